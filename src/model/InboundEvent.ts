import { Schema } from "effect"
import { DomainName } from "./Domain.ts"
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
  })
}).annotate({ identifier: "InboundEvent" })
export type InboundEvent = typeof InboundEvent.Type
