import { Schema } from "effect"
import { DomainId, DomainName } from "../model/Domain.ts"
import { InboundEmailId } from "../model/InboundEmail.ts"
import { EventId } from "../model/InboundEvent.ts"
import { RefusalId, RefusalReason } from "../model/Refusal.ts"

const nullable = (description: string) => Schema.NullOr(Schema.String).annotate({ description })

/** One stage of a mail on its way, in order. */
export const TraceStep = Schema.Struct({
  step: Schema.Literals([
    "session",
    "recipient",
    "refused",
    "stored",
    "read",
    "scan",
    "route",
    "event",
    "attempt",
    "state"
  ]),
  at: Schema.NullOr(Schema.DateTimeUtcFromString).annotate({ description: "null if the time is not known" }),
  ok: Schema.Boolean.annotate({ description: "false if something went wrong here" }),
  text: Schema.String,
  remedy: nullable("what to do about it, or null")
}).annotate({ identifier: "TraceStep" })
export type TraceStep = typeof TraceStep.Type

/** What became of a mail. */
export const TraceOutcome = Schema.Literals([
  "refused",
  "stored",
  "pending",
  "retrying",
  "paused",
  "held",
  "waiting",
  "dead",
  "delivered"
])
export type TraceOutcome = typeof TraceOutcome.Type

/** A mail for one recipient, or equal refusals within an hour. */
export const TraceEntry = Schema.Struct({
  at: Schema.DateTimeUtcFromString.annotate({ description: "when it was received, or first refused" }),
  outcome: TraceOutcome.annotate({
    description:
      "`stored`: not parsed yet. `pending`: before its first attempt. `retrying`: after a failed one. `waiting`: for a lease. The others are states of a delivery, or `refused`"
  }),
  summary: Schema.String.annotate({ description: "the outcome in a sentence" }),
  remedy: nullable("what to do, or null if nothing is wrong"),
  domain_id: DomainId,
  domain: DomainName,
  from: nullable("the envelope sender"),
  author: nullable("address of the From field, once parsed"),
  recipient: nullable("the envelope recipient"),
  subject: nullable("once parsed"),
  message_id: nullable("the unchanged Message-ID field"),
  bytes: Schema.NullOr(Schema.Int),
  event_id: Schema.NullOr(EventId),
  inbound_email_id: Schema.NullOr(InboundEmailId),
  refusal_id: Schema.NullOr(RefusalId),
  reason: Schema.NullOr(RefusalReason).annotate({ description: "why it was refused, or null" }),
  steps: Schema.Array(TraceStep)
}).annotate({ identifier: "TraceEntry" })
export type TraceEntry = typeof TraceEntry.Type

/** A step without a fault. */
export const done = (step: TraceStep["step"], at: TraceStep["at"], text: string): TraceStep => ({
  step,
  at,
  ok: true,
  text,
  remedy: null
})

/** A step where something went wrong. */
export const wrong = (step: TraceStep["step"], at: TraceStep["at"], text: string, remedy: string): TraceStep => ({
  step,
  at,
  ok: false,
  text,
  remedy
})
