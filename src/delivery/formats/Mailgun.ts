import { createHmac } from "node:crypto"
import * as DeliveryReport from "./DeliveryReport.ts"
import * as HeaderList from "./HeaderList.ts"
import * as Multipart from "./Multipart.ts"
import * as PartName from "./PartName.ts"
import * as SigningKey from "./SigningKey.ts"
import * as SpamFields from "./SpamFields.ts"
import {
  type DeliveredEvent,
  type DeliveredMessage,
  type DeliveredParts,
  type MailPart,
  type Stamp,
  WebhookFormat
} from "./WebhookFormat.ts"

/** The bytes of a token, as at Mailgun: 50 hexadecimal digits. */
const tokenBytes = 25

/** Header fields that Mailgun also posts under their own name. A sender's field must not become another one. */
const posted = ["Subject", "Date", "Message-Id", "In-Reply-To", "References"] as const

/**
 * The request of a Mailgun route: with the raw message if the path of the URL ends in `mime`, else with the parsed
 * mail.
 */
export const format = WebhookFormat.of({
  takes: { basicAuth: true, signingKey: true },
  final: new Set([406]),
  recipe: ({ pathname }) =>
    pathname.endsWith("mime")
      ? {
          needs: "text",
          make: (mail, stamp) =>
            Multipart.request(
              Multipart.of(mail.eventId, [...about(mail), ["body-mime", withSpam(mail)], ...signature(stamp)])
            )
        }
      : { needs: "parts", make: (mail, stamp) => Multipart.request(parsed(mail, stamp)) }
})

type TextField = readonly [name: string, value: string]

const about = ({ event }: DeliveredEvent): ReadonlyArray<TextField> => {
  const from = HeaderList.from(event)
  return [
    ["recipient", event.recipient],
    ["sender", event.envelope.from],
    ["from", from],
    ["subject", event.subject],
    ...HeaderList.addresses(event),
    ...posted.flatMap((name): ReadonlyArray<TextField> => {
      const value = HeaderList.first(event, name.toLowerCase())
      return value === undefined ? [] : [[name, value]]
    }),
    ...SpamFields.mailgun(event.spam)
  ]
}

/** The raw message with the fields in its header, too. */
const withSpam = ({ event, message }: DeliveredMessage): Uint8Array =>
  Buffer.concat([SpamFields.lines(SpamFields.mailgun(event.spam)), message])

const parsed = (mail: DeliveredParts, stamp: Stamp): Multipart.Form => {
  const { event, eventId, text } = mail
  const parts = DeliveryReport.files(mail.parts)
  const fields: ReadonlyArray<TextField> = [
    ...about(mail),
    ["body-plain", text],
    ["stripped-text", event.reply ?? text],
    ...(event.html === null
      ? []
      : ([
          ["body-html", event.html],
          ["stripped-html", event.html]
        ] as const)),
    ["message-headers", JSON.stringify([...SpamFields.mailgun(event.spam), ...HeaderList.of(event)])],
    ...DeliveryReport.fields(mail.parts),
    ...ofParts(parts),
    ...signature(stamp)
  ]
  if (parts.length === 0) return Multipart.orUrlencoded(eventId, fields)
  return Multipart.of(
    eventId,
    fields,
    parts.map((part, index) => ({
      field: `attachment-${index + 1}`,
      filename: PartName.of(part, index),
      contentType: part.contentType,
      content: part.content
    }))
  )
}

const ofParts = (parts: ReadonlyArray<MailPart>): ReadonlyArray<TextField> => {
  if (parts.length === 0) return []
  const ids = parts.flatMap((part, index) => {
    const id = PartName.bareId(part)
    return id === null ? [] : [[`<${id}>`, `attachment-${index + 1}`] as const]
  })
  return [
    ["attachment-count", `${parts.length}`],
    ...(ids.length === 0 ? [] : [["content-id-map", JSON.stringify(Object.fromEntries(ids))] as const])
  ]
}

/** Signs the time and a token, not the body, as Mailgun does. */
const signature = (stamp: Stamp): ReadonlyArray<TextField> => {
  const { random, seconds } = stamp
  const token = Buffer.from(random.subarray(0, tokenBytes)).toString("hex")
  return [
    ["timestamp", `${seconds}`],
    ["token", token],
    ["signature", createHmac("sha256", SigningKey.of(stamp)).update(`${seconds}${token}`).digest("hex")]
  ]
}
