import { Schema } from "effect"
import { DomainName } from "./Domain.ts"
import { Extracted } from "./Extracted.ts"
import { Envelope, InboundEmailId, RawRef } from "./InboundEmail.ts"
import { MailKind } from "./MailKind.ts"
import { Spam } from "./Spam.ts"
import { Trust } from "./Trust.ts"
import { WebhookId } from "./Webhook.ts"

export const EventId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type

const Mailbox = Schema.Struct({ name: Schema.String, address: Schema.String }).annotate({ identifier: "Mailbox" })
export type Mailbox = typeof Mailbox.Type

const Header = Schema.Struct({ name: Schema.String, value: Schema.String }).annotate({ identifier: "Header" })

/** Metadata of one attachment. `…/attachments/{index}` returns its bytes. */
export const Attachment = Schema.Struct({
  filename: Schema.NullOr(Schema.String),
  contentType: Schema.String,
  size: Schema.Int.annotate({ description: "size in decoded bytes" }),
  contentId: Schema.NullOr(Schema.String),
  disposition: Schema.NullOr(Schema.String),
  index: Schema.Int
}).annotate({ identifier: "Attachment" })
export type Attachment = typeof Attachment.Type

const Verdict = Schema.Literals(["pass", "fail", "softfail", "neutral", "none", "temperror", "permerror"])

/** The verdicts about the sender. They never cause a refusal. */
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
    description: "the message. Events for other recipients of the domain share it"
  }),
  idempotency_key: Schema.String.annotate({
    description:
      "SHA-256 of domain and message_id. Events of one message for two addresses share it, so deduplicate by event_id, or by this and recipient"
  }),
  message_id: Schema.NullOr(Schema.String).annotate({ description: "the unchanged Message-ID field, or null" }),
  domain: DomainName.annotate({ description: "the domain that received it" }),
  recipient: Schema.String.annotate({ description: "the envelope address. Route by this" }),
  from: Schema.String.annotate({
    description: "address of the From field, or the envelope sender if that is unusable"
  }),
  subject: Schema.String.annotate({ description: "the decoded subject, or an empty string" }),
  text: Schema.String.annotate({ description: "the plain text, or text made from the HTML" }),
  html: Schema.NullOr(Schema.String).annotate({ description: "the original HTML. Not safe to display" }),
  attachments: Schema.Array(Attachment).annotate({
    description: "metadata. `…/attachments/{index}` returns the bytes"
  }),
  receivedAt: Schema.String.annotate({ description: "time of acceptance: ISO 8601, UTC, milliseconds" }),
  rawRef: RawRef.annotate({ description: "storage key of the raw message. `…/raw` returns it" }),
  authentication: Authentication,
  envelope: Envelope.annotate({ description: "the SMTP envelope" }),
  headers: Schema.Array(Header).annotate({ description: "all header fields in order, decoded, up to 64 KiB" }),
  to: Schema.Array(Mailbox),
  cc: Schema.Array(Mailbox),
  replyTo: Schema.Array(Mailbox),
  inReplyTo: Schema.NullOr(Schema.String).annotate({ description: "the unchanged In-Reply-To field, or null" }),
  references: Schema.Array(Schema.String).annotate({ description: "the message ids of the References field" }),
  parse: Schema.Literals(["full", "partial", "headers"]).annotate({
    description: "how much of the message Inlet could parse"
  }),
  fromName: Schema.optionalKey(Schema.NullOr(Schema.String)).annotate({
    description:
      "the author's display name, or null if missing or if `from` is the envelope sender. Absent in older events"
  }),
  // Events stored by earlier versions lack the field.
  reply: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({
      description: "the author's new text without quotation and signature, or null if equal to `text`"
    })
  ),
  sender: Schema.optionalKey(
    Schema.Literals(["person", "list", "auto", "bounce"]).annotate({
      description: "a person, a list or newsletter, an automatic mail, or a bounce"
    })
  ),
  kind: Schema.optionalKey(
    MailKind.annotate({ description: "what the mail is, with what its kind tells. Absent in older events" })
  ),
  tag: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({
      description: "the part after the first `+` of the recipient's local part, or null"
    })
  ),
  threadId: Schema.optionalKey(
    Schema.String.check(Schema.isUUID()).annotate({
      description: "the conversation. Replies to one message in this domain share it"
    })
  ),
  hiddenText: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "true if the HTML has hidden words. Absent in older events"
    })
  ),
  extracted: Schema.optionalKey(
    Extracted.annotate({
      description: "the code and links of the mail. Absent in older events"
    })
  ),
  webhook_id: Schema.optionalKey(
    WebhookId.annotate({ description: "the webhook that takes this recipient. Absent in older events" })
  ),
  pattern: Schema.optionalKey(
    Schema.String.annotate({ description: "the pattern of that webhook when the mail came. `*` is the catch-all" })
  ),
  hiddenTextVerdict: Schema.optionalKey(
    Schema.Literals(["none", "removed", "uncertain"]).annotate({
      description:
        "`removed` if hidden words of the HTML were left out, `uncertain` if it has words that a person may not see. Absent in older events"
    })
  ),
  textMatchesHtml: Schema.optionalKey(
    Schema.NullOr(Schema.Boolean).annotate({
      description:
        "whether `text` has the same words as the HTML beside it. Null if the mail has only one of them. Absent in older events"
    })
  ),
  invisibleCharacters: Schema.optionalKey(
    Schema.Int.annotate({
      description: "the number of invisible characters in `subject` and `text`. Absent in older events"
    })
  ),
  trust: Schema.optionalKey(
    Trust.annotate({ description: "whether to believe `from`, as judged when the mail came. Absent in older events" })
  ),
  // The last field, because it is added once a parser thread has written the others.
  spam: Schema.optionalKey(
    Spam.annotate({ description: "what the scanner says. Absent in older events, and where no scanner is set up" })
  )
}).annotate({ identifier: "InboundEvent" })
export type InboundEvent = typeof InboundEvent.Type
