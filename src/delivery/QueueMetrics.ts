import { Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"

const oldest = Metric.gauge("inlet_queue_oldest_seconds", {
  description:
    "Age of the oldest message that is not read yet, and of the oldest delivery that is due to be posted, or to be taken"
})
const pausedNow = Metric.gauge("inlet_webhooks_paused", { description: "Webhooks that are paused now" })

/** Measures the age of the queues every 15 seconds. All worker processes report the same values. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const queue = yield* DeliveryQueue

    const look = Effect.gen(function* () {
      const [now] = yield* sql<{ readonly unreadSeconds: number | null; readonly paused: number }>`
        WITH RECURSIVE waiting AS (
          (SELECT domain_id FROM inbound_emails WHERE state = 'received' ORDER BY domain_id LIMIT 1)
          UNION ALL
          SELECT (
            SELECT domain_id FROM inbound_emails
            WHERE state = 'received' AND domain_id > waiting.domain_id ORDER BY domain_id LIMIT 1
          ) FROM waiting WHERE waiting.domain_id IS NOT NULL
        )
        SELECT
          (
            SELECT extract(epoch FROM now() - min(mail.received_at))::float8
            FROM waiting CROSS JOIN LATERAL (
              SELECT received_at FROM inbound_emails
              WHERE domain_id = waiting.domain_id AND state = 'received' ORDER BY received_at LIMIT 1
            ) AS mail
          ) AS unread_seconds,
          (SELECT count(*)::int FROM domains WHERE webhook_probe_at IS NOT NULL) AS paused
      `
      const { toPost, toTake } = yield* queue.oldestDueSeconds
      yield* Metric.update(Metric.withAttributes(oldest, { queue: "messages" }), Math.max(now?.unreadSeconds ?? 0, 0))
      yield* Metric.update(Metric.withAttributes(oldest, { queue: "deliveries" }), Math.max(toPost, 0))
      yield* Metric.update(Metric.withAttributes(oldest, { queue: "pull" }), Math.max(toTake, 0))
      yield* Metric.update(pausedNow, now?.paused ?? 0)
    })

    yield* BackgroundLoop.every("15 seconds", { says: "The queues could not be looked at", level: "Warn" }, look)
  })
)
