import * as HeaderBlock from "../../mime/HeaderBlock.ts"
import * as LineEnds from "../../mime/LineEnds.ts"
import * as NodeBuffer from "../../mime/NodeBuffer.ts"
import * as AddressField from "./AddressField.ts"
import * as DeliveryReport from "./DeliveryReport.ts"
import * as HeaderList from "./HeaderList.ts"
import * as Multipart from "./Multipart.ts"
import * as PartName from "./PartName.ts"
import * as SpamFields from "./SpamFields.ts"
import { type DeliveredEvent, type DeliveredParts, type FormatRequest, WebhookFormat } from "./WebhookFormat.ts"

const common = { takes: { basicAuth: true, signingKey: false }, final: new Set<number>() }

/** The request of SendGrid's Inbound Parse with the parsed mail. */
export const format = WebhookFormat.of({
  ...common,
  recipe: () => ({ needs: "parts", make: parsed })
})

/** The request of SendGrid's Inbound Parse with the raw message ("POST the raw, full MIME message"). */
export const rawFormat = WebhookFormat.of({
  ...common,
  recipe: () => ({
    needs: "text",
    make: (mail) => Multipart.request(Multipart.of(mail.eventId, [["email", mail.message], ...about(mail)]))
  })
})

const about = ({ event }: DeliveredEvent): ReadonlyArray<Multipart.Field> => {
  const { authentication, cc, envelope, from, recipient, subject, to } = event
  const domain = from.slice(from.lastIndexOf("@") + 1)
  return [
    ["to", AddressField.of(to)],
    ["from", HeaderList.from(event)],
    ["cc", AddressField.of(cc)],
    ["subject", subject],
    ["envelope", JSON.stringify({ to: [recipient], from: envelope.from })],
    ["sender_ip", envelope.remoteAddress],
    ["SPF", authentication.spf],
    ["dkim", authentication.dkim === "none" ? "none" : `{@${domain} : ${authentication.dkim}}`],
    ...SpamFields.sendgrid(event.spam),
    ["charsets", charsets]
  ]
}

const charsets = JSON.stringify(
  Object.fromEntries(["to", "from", "cc", "subject", "text", "html", "filename"].map((name) => [name, "UTF-8"]))
)

const parsed = (mail: DeliveredParts): FormatRequest => {
  const { event, eventId, message, text } = mail
  const parts = DeliveryReport.files(mail.parts)
  const info = parts.map((part, index) => {
    const name = PartName.of(part, index)
    const id = PartName.bareId(part)
    return [
      `attachment${index + 1}`,
      { filename: name, name, type: part.contentType, ...(id === null ? {} : { "content-id": id }) }
    ] as const
  })
  const fields: ReadonlyArray<Multipart.Field> = [
    ["headers", headerLines(message)],
    ...about(mail),
    ["text", text],
    ...(event.html === null ? [] : [["html", event.html] as const]),
    ...DeliveryReport.fields(mail.parts),
    ["attachments", `${parts.length}`],
    ...(info.length === 0 ? [] : [["attachment-info", JSON.stringify(Object.fromEntries(info))] as const])
  ]
  return Multipart.request(
    Multipart.of(
      eventId,
      fields,
      parts.map((part, index) => ({
        field: `attachment${index + 1}`,
        filename: PartName.of(part, index),
        contentType: part.contentType,
        content: part.content
      }))
    )
  )
}

/**
 * The header of the carried message as sent, unfolded, still with encoded words, one line a field. Without the fields
 * about the content of the whole message, because the request has its parts.
 */
const headerLines = (message: Uint8Array): string =>
  headerOf(message)
    .filter(({ name }) => !HeaderList.isOfContent(name.toLowerCase()))
    .map(({ name, value }) => {
      const text = NodeBuffer.view(value).toString("utf8")
      return `${name}: ${text.replace(/[\r\n]+[ \t]*/g, " ").trim()}\n`
    })
    .join("")

/** Maximum bytes of the header, as in an event. Other fields are left out. */
const headerBytes = 64 * 1024

const headerOf = (message: Uint8Array) => {
  const start = message.subarray(0, headerBytes)
  const { end, fields } = HeaderBlock.read(LineEnds.withFeeds(start))
  return end === start.length && message.length > end ? fields.slice(0, -1) : fields
}
