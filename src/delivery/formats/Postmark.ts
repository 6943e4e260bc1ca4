import { DateTime } from "effect"
import * as Tag from "../../content/Tag.ts"
import * as NodeBuffer from "../../mime/NodeBuffer.ts"
import type { InboundEvent, Mailbox } from "../../model/InboundEvent.ts"
import * as AddressField from "./AddressField.ts"
import * as DeliveryReport from "./DeliveryReport.ts"
import * as HeaderList from "./HeaderList.ts"
import * as PartName from "./PartName.ts"
import * as SpamFields from "./SpamFields.ts"
import { type DeliveredParts, type MailPart, WebhookFormat } from "./WebhookFormat.ts"

/** The request of a Postmark inbound stream, with the raw message (`RawEmail`). */
export const format = WebhookFormat.of({
  takes: { basicAuth: true, signingKey: false },
  final: new Set([403]),
  recipe: () => ({
    needs: "parts",
    make: (mail) => ({
      headers: { "Content-Type": "application/json" },
      body: Buffer.from(JSON.stringify(inbound(mail)))
    })
  })
})

const inbound = ({ event, eventId, message, parts, text }: DeliveredParts) => {
  const { cc, from, fromName, recipient, replyTo, to } = event
  const isNamed = [...to, ...cc].some(({ address }) => address.toLowerCase() === recipient.toLowerCase())
  const hidden: ReadonlyArray<Mailbox> = isNamed ? [] : [{ name: "", address: recipient }]
  return {
    FromName: fromName ?? "",
    MessageStream: "inbound",
    From: from,
    FromFull: full({ name: fromName ?? "", address: from }),
    To: AddressField.of(to),
    ToFull: to.map(full),
    Cc: AddressField.of(cc),
    CcFull: cc.map(full),
    // Receivers that look for their address find it here.
    Bcc: AddressField.of(hidden),
    BccFull: hidden.map(full),
    OriginalRecipient: recipient,
    Subject: event.subject,
    MessageID: eventId,
    ReplyTo: AddressField.of(replyTo),
    MailboxHash: event.tag ?? "",
    Date: HeaderList.first(event, "date") || dateField(event.receivedAt),
    TextBody: text,
    HtmlBody: event.html ?? "",
    StrippedTextReply: event.reply ?? "",
    Tag: "",
    Headers: headers(event),
    Attachments: DeliveryReport.files(parts).map(attachment),
    RawEmail: NodeBuffer.view(message).toString("utf8")
  }
}

/** A time as a Date field (RFC 5322, section 3.3), for mails without one. */
const dateField = (iso: string) => DateTime.toDateUtc(DateTime.makeUnsafe(iso)).toUTCString().replace("GMT", "+0000")

const full = ({ address, name }: Mailbox) => ({ Email: address, Name: name, MailboxHash: Tag.of(address) ?? "" })

const attachment = (part: MailPart, index: number) => ({
  Name: PartName.of(part, index),
  Content: NodeBuffer.view(part.content).toString("base64"),
  ContentType: part.contentType,
  ContentLength: part.content.byteLength,
  ContentID: PartName.bareId(part) ?? ""
})

/** The newest Anymail reads the envelope sender from a first `Return-Path`, older ones from `Received-SPF`. */
const headers = (event: InboundEvent) => {
  const { authentication, envelope } = event
  const spf = `${authentication.spf} client-ip=${envelope.remoteAddress || "unknown"}; envelope-from=${AddressField.quoted(envelope.from)}; helo=${AddressField.quoted(envelope.helo)}`
  const pairs: ReadonlyArray<HeaderList.HeaderPair> = [
    ["Return-Path", `<${envelope.from}>`],
    ...(authentication.spf === "none" ? [] : [["Received-SPF", spf] as const]),
    ...SpamFields.postmark(event.spam),
    ...HeaderList.of(event).filter(([name]) => !apart.test(name))
  ]
  return pairs.map(([Name, Value]) => ({ Name, Value }))
}

/** Fields that Postmark posts by themselves. */
const apart = /^(?:from|to|cc|bcc|reply-to|subject|date|mime-version|content-.*)$/i
