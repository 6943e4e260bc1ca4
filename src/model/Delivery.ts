import { Schema } from "effect"
import { EventId } from "./InboundEvent.ts"
import { HoldReason } from "./Trust.ts"

/** `held`: no webhook takes the mail, or a rule, the scanner or the loop guard holds it. `dead`: the last retry failed. */
export const DeliveryStatus = Schema.Literals(["pending", "delivered", "dead", "held"])
export type DeliveryStatus = typeof DeliveryStatus.Type

/** The delivery of an event, as shown by the API. */
export const Delivery = Schema.Struct({
  status: DeliveryStatus,
  attempts: Schema.Int.annotate({ description: "number of attempts so far, replays included" }),
  nextAttemptAt: Schema.NullOr(Schema.DateTimeUtcFromString).annotate({
    description: "set while pending. The attempt may come later if the webhook is paused or busy"
  }),
  deliveredAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  lastError: Schema.NullOr(Schema.String).annotate({ description: "why the last attempt failed" }),
  reason: Schema.optionalKey(
    HoldReason.annotate({
      description:
        "why a sender rule, the mail scanner or the loop guard holds it. `…/release` delivers it. Absent otherwise"
    })
  )
}).annotate({ identifier: "Delivery" })
export type Delivery = typeof Delivery.Type

export const AttemptId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("AttemptId"))
export type AttemptId = typeof AttemptId.Type

/** One webhook request, as the API lists it. `statusCode` is null without an answer. */
export const DeliveryAttempt = Schema.Struct({
  id: AttemptId,
  event_id: EventId,
  attempt: Schema.Int.annotate({ description: "counted from 1, across replays" }),
  url: Schema.String,
  requestedAt: Schema.DateTimeUtcFromString,
  durationMs: Schema.NullOr(Schema.Int).annotate({
    description: "null if the worker stopped before the answer"
  }),
  statusCode: Schema.NullOr(Schema.Int).annotate({ description: "null without an answer" }),
  ok: Schema.Boolean,
  error: Schema.NullOr(Schema.String),
  responseBody: Schema.NullOr(Schema.String).annotate({ description: "the first KiB" }),
  nextAttemptAt: Schema.NullOr(Schema.DateTimeUtcFromString).annotate({
    description: "of the last attempt, while its delivery is pending"
  })
}).annotate({ identifier: "DeliveryAttempt" })
export type DeliveryAttempt = typeof DeliveryAttempt.Type
