import { Schema } from "effect"
import { DomainName } from "./Domain.ts"
import { Extracted } from "./Extracted.ts"
import { Envelope, InboundEmailId, RawRef } from "./InboundEmail.ts"

export const EventId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type

const Mailbox = Schema.Struct({ name: Schema.String, address: Schema.String }).annotate({ identifier: "Mailbox" })
export type Mailbox = typeof Mailbox.Type

const Header = Schema.Struct({ name: Schema.String, value: Schema.String }).annotate({ identifier: "Header" })

/** Metadata of one attachment; its bytes are at `…/attachments/{index}`. */
export const Attachment = Schema.Struct({
  filename: Schema.NullOr(Schema.String),
  contentType: Schema.String,
  size: Schema.Int.annotate({ description: "decoded bytes" }),
  contentId: Schema.NullOr(Schema.String),
  disposition: Schema.NullOr(Schema.String),
  index: Schema.Int
}).annotate({ identifier: "Attachment" })
export type Attachment = typeof Attachment.Type

const Verdict = Schema.Literals(["pass", "fail", "softfail", "neutral", "none", "temperror", "permerror"])

/** The verdicts about the sender. They are told, and never refuse mail. */
export const Authentication = Schema.Struct({ spf: Verdict, dkim: Verdict, dmarc: Verdict, arc: Verdict }).annotate({
  identifier: "Authentication"
})
export type Authentication = typeof Authentication.Type

/** The sender was not checked. */
export const unauthenticated: Authentication = { spf: "none", dkim: "none", dmarc: "none", arc: "none" }

/** One inbound email for one recipient: the payload of the webhook and of the API (spec, sections 2 and 6). */
export const InboundEvent = Schema.Struct({
  event: Schema.Literal("inbound.email.received"),
  event_id: EventId.annotate({ description: "the same on every attempt and replay" }),
  inbound_email_id: InboundEmailId.annotate({
    description: "the message; its events for other recipients of the domain share it"
  }),
  idempotency_key: Schema.String.annotate({
    description:
      "SHA-256 of domain and message_id: the events of one message to two addresses share it, so deduplicate on event_id, or on this together with recipient"
  }),
  message_id: Schema.NullOr(Schema.String).annotate({ description: "the Message-ID field as it stands, or null" }),
  domain: DomainName.annotate({ description: "the domain that received it" }),
  recipient: Schema.String.annotate({ description: "the address in the envelope: route on this" }),
  from: Schema.String.annotate({
    description: "address of the From field, or the envelope sender where that is unusable"
  }),
  subject: Schema.String.annotate({ description: "empty when absent" }),
  text: Schema.String.annotate({ description: "the plain text; made from the HTML where there is none" }),
  html: Schema.NullOr(Schema.String).annotate({ description: "as it was sent: not safe to show as it is" }),
  attachments: Schema.Array(Attachment).annotate({ description: "metadata; the bytes are at `…/attachments/{index}`" }),
  receivedAt: Schema.String.annotate({ description: "when it was accepted: ISO 8601, UTC, milliseconds" }),
  rawRef: RawRef.annotate({ description: "where the raw message is kept; `…/raw` gives it" }),
  authentication: Authentication,
  envelope: Envelope.annotate({ description: "what the sending server said" }),
  headers: Schema.Array(Header).annotate({ description: "every header field in order, decoded, at most 64 KiB" }),
  to: Schema.Array(Mailbox),
  cc: Schema.Array(Mailbox),
  replyTo: Schema.Array(Mailbox),
  inReplyTo: Schema.NullOr(Schema.String).annotate({ description: "the In-Reply-To field as it stands, or null" }),
  references: Schema.Array(Schema.String).annotate({ description: "the message ids of the References field" }),
  parse: Schema.Literals(["full", "partial", "headers"]).annotate({
    description: "how much of the message could be read"
  }),
  fromName: Schema.optionalKey(Schema.NullOr(Schema.String)).annotate({
    description:
      "the author's display name, as the sender wrote it; null when there is none, or when `from` is the envelope sender. Absent in mail from before this field"
  }),
  // Events that were stored before there was such a field are listed without it.
  reply: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({
      description: "what the person wrote, without what they answer and their signature; null where that is `text`"
    })
  ),
  sender: Schema.optionalKey(
    Schema.Literals(["person", "list", "auto", "bounce"]).annotate({
      description: "a person, a list or newsletter, a program that answers or tells something, a failed delivery"
    })
  ),
  tag: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({
      description: "behind the first `+` of the recipient's local part, or null"
    })
  ),
  threadId: Schema.optionalKey(
    Schema.String.check(Schema.isUUID()).annotate({
      description: "the conversation: replies to one message share it, in this domain"
    })
  ),
  hiddenText: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "the HTML has words that a person does not see; absent in events of versions before"
    })
  ),
  extracted: Schema.optionalKey(
    Extracted.annotate({
      description: "the code and the links that the mail was sent for; absent in events of versions before"
    })
  )
}).annotate({ identifier: "InboundEvent" })
export type InboundEvent = typeof InboundEvent.Type
