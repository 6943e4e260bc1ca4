import { Schema } from "effect"
import * as Invisible from "../content/html/Invisible.ts"
import { DeliveryStatus } from "../model/Delivery.ts"
import { Attachment, InboundEvent } from "../model/InboundEvent.ts"
import { KindName } from "../model/MailKind.ts"
import { SpamVerdict } from "../model/Spam.ts"

const {
  authentication,
  event_id,
  extracted,
  from,
  fromName,
  kind,
  receivedAt,
  recipient,
  sender,
  spam,
  subject,
  tag,
  threadId,
  trust
} = InboundEvent.fields

/** The fields of every event, and those of newer ones. */
const told = { event_id, receivedAt, recipient, from, subject, authentication }
const newer = { tag, fromName, sender, kind, threadId, extracted, trust, spam }

/** The fields of a payload that a brief event needs. */
const Payload = Schema.fromJsonString(
  Schema.Struct({ ...told, ...newer, text: Schema.String, attachments: Schema.Array(Attachment) })
)

const orNull = <S extends Schema.Top>(field: Schema.optionalKey<S>) => Schema.NullOr(field.schema)

/** A short form of an event for agents: 100 to 200 tokens for any mail. */
export const BriefEvent = Schema.Struct({
  event_id,
  receivedAt,
  recipient,
  tag: tag.schema,
  from,
  fromName: fromName.schema,
  subject,
  sender: orNull(sender),
  kind: Schema.NullOr(KindName).annotate({ description: "what the mail is: the type of `kind` in the event" }),
  threadId: orNull(threadId),
  authentication,
  extracted: orNull(extracted),
  trust: orNull(trust),
  spam: Schema.NullOr(SpamVerdict).annotate({ description: "the verdict of the mail scanner, or null without one" }),
  attachments: Schema.Int.annotate({ description: "number of attachments" }),
  textBytes: Schema.Int.annotate({ description: "size of `text` in UTF-8" }),
  delivery: DeliveryStatus
}).annotate({ identifier: "BriefEvent" })
export type BriefEvent = typeof BriefEvent.Type

const decode = Schema.decodeUnknownSync(Payload)
const encode = Schema.encodeSync(Schema.fromJsonString(BriefEvent))

/** Makes the brief event of a stored payload. Fields that older payloads lack are null. */
export const of = (payload: string, delivery: DeliveryStatus): BriefEvent => {
  const { attachments, extracted, fromName, kind, sender, spam, tag, text, threadId, trust, ...event } = decode(payload)
  return {
    ...event,
    subject: Invisible.without(event.subject).seen,
    tag: tag ?? null,
    fromName: fromName ?? null,
    sender: sender ?? null,
    kind: kind?.type ?? null,
    threadId: threadId ?? null,
    extracted: extracted ?? null,
    trust: trust ?? null,
    spam: spam?.verdict ?? null,
    attachments: attachments.length,
    textBytes: Buffer.byteLength(text),
    delivery
  }
}

/** The same as JSON. */
export const render = (payload: string, delivery: DeliveryStatus): string => encode(of(payload, delivery))
