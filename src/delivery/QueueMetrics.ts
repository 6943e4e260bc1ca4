import { Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"

const oldest = Metric.gauge("inlet_queue_oldest_seconds", {
  description:
    "Age of the oldest message that is not read yet, and of the oldest delivery that is due to be posted, or leased"
})
const pausedNow = Metric.gauge("inlet_webhooks_paused", { description: "Webhooks that are paused now" })

const retrying = Metric.gauge("inlet_deliveries_retrying", {
  description: "Deliveries that wait for their next attempt, of the first 20,000 pending ones"
})
const dead = Metric.gauge("inlet_deliveries_dead", { description: "Dead letters of all domains, counted up to 20,000" })

/** Maximum rows that a count reads. */
const mostCounted = 20_000

/** Counts by the partial indexes of the queue. */
const counts = (sql: SqlClient.SqlClient) => sql<{ readonly retrying: number; readonly dead: number }>`
  SELECT
    (
      SELECT count(*) FILTER (WHERE due_at > now() AND attempts > 0)::int
      FROM (SELECT due_at, attempts FROM deliveries WHERE status = 'pending' LIMIT ${mostCounted}) AS pending
    ) AS retrying,
    (SELECT count(*)::int FROM (SELECT 1 FROM deliveries WHERE status = 'dead' LIMIT ${mostCounted}) AS dead) AS dead
`

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
          (SELECT count(*)::int FROM webhooks WHERE probe_at IS NOT NULL) AS paused
      `
      const { toPost, toTake } = yield* queue.oldestDueSeconds
      yield* Metric.update(Metric.withAttributes(oldest, { queue: "messages" }), Math.max(now?.unreadSeconds ?? 0, 0))
      yield* Metric.update(Metric.withAttributes(oldest, { queue: "deliveries" }), Math.max(toPost, 0))
      yield* Metric.update(Metric.withAttributes(oldest, { queue: "pull" }), Math.max(toTake, 0))
      yield* Metric.update(pausedNow, now?.paused ?? 0)
      const [counted] = yield* counts(sql)
      yield* Metric.update(retrying, counted?.retrying ?? 0)
      yield* Metric.update(dead, counted?.dead ?? 0)
    })

    yield* BackgroundLoop.every("15 seconds", { says: "The queues could not be looked at", level: "Warn" }, look)
  })
)
