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

/** What was found about the sender. It is told, it never refuses mail (decisions, section 6). */
export const Authentication = Schema.Struct({ spf: Verdict, dkim: Verdict, dmarc: Verdict, arc: Verdict }).annotate({
  identifier: "Authentication"
})
export type Authentication = typeof Authentication.Type

/** One inbound email for one recipient: the payload of the webhook and of the API (spec, sections 2 and 6). */
export const InboundEvent = Schema.Struct({
  event: Schema.Literal("inbound.email.received"),
  event_id: EventId,
  inbound_email_id: InboundEmailId,
  idempotency_key: Schema.String.annotate({
    description:
      "SHA-256 of domain and message_id: the events of one message to two addresses share it, so deduplicate on event_id, or on this together with recipient"
  }),
  message_id: Schema.NullOr(Schema.String),
  domain: DomainName,
  recipient: Schema.String,
  from: Schema.String,
  subject: Schema.String,
  text: Schema.String,
  html: Schema.NullOr(Schema.String),
  attachments: Schema.Array(Attachment),
  receivedAt: Schema.String.annotate({ description: "ISO 8601, UTC, milliseconds" }),
  rawRef: RawRef,
  authentication: Authentication,
  envelope: Envelope,
  headers: Schema.Array(Header),
  to: Schema.Array(Mailbox),
  cc: Schema.Array(Mailbox),
  replyTo: Schema.Array(Mailbox),
  inReplyTo: Schema.NullOr(Schema.String),
  references: Schema.Array(Schema.String),
  parse: Schema.Literals(["full", "partial", "headers"])
}).annotate({ identifier: "InboundEvent" })
export type InboundEvent = typeof InboundEvent.Type
