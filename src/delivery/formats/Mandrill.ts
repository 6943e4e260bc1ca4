import { createHmac } from "node:crypto"
import { DateTime, Redacted } from "effect"
import * as NodeBuffer from "../../mime/NodeBuffer.ts"
import type { InboundEvent, Mailbox } from "../../model/InboundEvent.ts"
import * as DeliveryReport from "./DeliveryReport.ts"
import * as HeaderList from "./HeaderList.ts"
import * as Multipart from "./Multipart.ts"
import * as PartName from "./PartName.ts"
import * as SigningKey from "./SigningKey.ts"
import * as SpamFields from "./SpamFields.ts"
import { type Credentials, type DeliveredParts, type MailPart, type Stamp, WebhookFormat } from "./WebhookFormat.ts"

/** The request of Mandrill's inbound webhook, a list of one event with the parsed mail and its raw message. */
export const format = WebhookFormat.of({
  takes: { basicAuth: true, signingKey: true },
  final: new Set(),
  recipe: (url) => ({
    needs: "parts",
    make: (mail, stamp) => {
      const ts = Math.floor(DateTime.toEpochMillis(DateTime.makeUnsafe(mail.event.receivedAt)) / 1_000)
      const events = JSON.stringify([{ event: "inbound", ts, msg: message(mail) }])
      const { body, contentType } = Multipart.orUrlencoded(mail.eventId, [[field, events]])
      return { headers: { "Content-Type": contentType, "X-Mandrill-Signature": signature(url, events, stamp) }, body }
    }
  })
})

const field = "mandrill_events"

/** Signs the URL and the fields of the form, as Mandrill does. */
const signature = (url: URL, events: string, stamp: Stamp): string =>
  createHmac("sha1", SigningKey.of(stamp))
    .update(`${withCredentials(url, stamp.credentials)}${field}${events}`)
    .digest("base64")

/** The URL as its receiver knows it. Mandrill signs user name and password, too, and Anymail puts them back as sent. */
const withCredentials = ({ href }: URL, { password, user }: Credentials): string =>
  user === undefined || password === undefined
    ? href
    : href.replace("//", () => `//${user}:${Redacted.value(password)}@`)

const message = ({ event, message, parts, text }: DeliveredParts) => {
  const { authentication, cc, from, fromName, html, recipient, subject, to } = event
  const files = named(DeliveryReport.files(parts))
  return {
    raw_msg: NodeBuffer.view(message).toString("utf8"),
    headers: headers(event),
    text,
    text_flowed: false,
    ...(html === null ? {} : { html }),
    from_email: from,
    ...(fromName ? { from_name: fromName } : {}),
    to: to.map(pair),
    ...(cc.length === 0 ? {} : { cc: cc.map(pair) }),
    email: recipient,
    subject,
    tags: [],
    sender: null,
    template: null,
    ...(files.length === 0 ? {} : { attachments: Object.fromEntries(files) }),
    spf: { result: authentication.spf, detail: "" },
    dkim: { signed: authentication.dkim !== "none", valid: authentication.dkim === "pass" },
    ...SpamFields.mandrill(event.spam)
  }
}

const pair = ({ address, name }: Mailbox) => [address, name || null] as const

/** The header by name, written as Mandrill does (`Message-Id`). A repeated field has a list of its values. */
const headers = (event: InboundEvent): Readonly<Record<string, string | ReadonlyArray<string>>> => {
  const byName = new Map<string, Array<string>>()
  for (const [name, value] of HeaderList.of(event)) {
    const key = name.toLowerCase().replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase())
    const values = byName.get(key)
    if (values === undefined) byName.set(key, [value])
    else values.push(value)
  }
  return Object.fromEntries(
    Array.from(byName, ([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values])
  )
}

/** Files by their name, which counts on where two have the same one. */
const named = (parts: ReadonlyArray<MailPart>) => {
  /** By name the last number that it has. */
  const last = new Map<string, number>()
  return parts.map((part, index) => {
    const name = PartName.of(part, index)
    let key = name
    let number = last.get(name) ?? 1
    while (last.has(key)) key = `${name} (${++number})`
    last.set(name, number)
    if (key !== name) last.set(key, 1)
    const content = NodeBuffer.view(part.content)
    return [key, { name, type: part.contentType, content: content.toString("base64"), base64: true }] as const
  })
}
