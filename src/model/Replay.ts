import { Schema } from "effect"
import { WebhookId } from "./Webhook.ts"

export const ReplayId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("ReplayId"))
export type ReplayId = typeof ReplayId.Type

/** The deliveries that a job can replay. Pending ones are attempted by themselves. */
export const ReplayStatus = Schema.Literals(["dead", "held", "delivered"])
export type ReplayStatus = typeof ReplayStatus.Type

export const ReplayState = Schema.Literals(["running", "done", "stopped"])

/** Maximum deliveries of a job. */
export const mostDeliveries = 100_000

/** Maximum delivered events that all jobs of a workspace send again on a UTC day. */
export const deliveredPerDay = 10_000

const time = Schema.NullOr(Schema.DateTimeUtcFromString)

/** A job that delivers events again, as the API shows it. */
export const Replay = Schema.Struct({
  id: ReplayId,
  status: ReplayStatus.annotate({ description: "which deliveries it replays" }),
  since: time,
  until: time,
  recipient: Schema.NullOr(Schema.String),
  webhook_id: Schema.NullOr(WebhookId).annotate({
    description: "the webhook that takes all of them. Null for each at its own, or at the catch-all if that is gone"
  }),
  state: ReplayState.annotate({ description: "`done` once every delivery of it has an outcome" }),
  total: Schema.Int.annotate({
    description: `deliveries counted at the start. A job replays the oldest ${mostDeliveries}`
  }),
  queued: Schema.Int.annotate({ description: "deliveries made due so far" }),
  delivered: Schema.Int.annotate({ description: "those whose new attempt succeeded" }),
  failed: Schema.Int.annotate({
    description: "those whose new attempt failed, which Inlet retries like any other delivery, and those of `unserved`"
  }),
  unserved: Schema.Int.annotate({
    description:
      "those whose webhook takes none: it holds or rejects mail, or the domain has none for it. Set its URL, or send them to another with `webhook_id`"
  }),
  created_at: Schema.DateTimeUtcFromString,
  finished_at: time
}).annotate({ identifier: "Replay" })
export type Replay = typeof Replay.Type
