import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { DomainId } from "../model/Domain.ts"
import type { WebhookId } from "../model/Webhook.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { DueWork } from "../schedule/DueWork.ts"
import * as WebhookState from "../webhooks/state/WebhookState.ts"
import * as DeliveryRows from "./DeliveryRows.ts"
import { EventFeed } from "./EventFeed.ts"

/** Maximum webhooks of one statement. */
const mostWebhooks = 16

/** Maximum pending deliveries of the webhook's domain that one statement reads. */
const mostRead = 1_000

/** Interval after which a delivery may be brought forward again before its attempt on schedule. */
const again = "1 hour"

/**
 * Brings the oldest retries of recovering webhooks forward, up to the step of each: two, four, up to 512. A step begins
 * when most of the one before is done, so a slow webhook gets no more at once. A failure ends it
 * (`WebhookState.fail`). A delivery that fails returns to its schedule, which has its next turn only after that or
 * after an hour. So a webhook that alternates between success and failure gets few additional requests.
 */
export const step = (sql: SqlClient.SqlClient) => sql<{ readonly domainId: DomainId; readonly webhookId: WebhookId }>`
  WITH recovering AS (
    ${WebhookState.takeRecovering(sql, mostWebhooks)}
  ), room AS (
    SELECT recovering.id, recovering.domain_id, recovering.since, recovering.position, due.taken,
      CASE WHEN due.taken * 4 <= recovering.step THEN least(recovering.step * 2, ${DeliveryRows.mostDue}::int)
        ELSE recovering.step END AS step
    FROM recovering
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS taken FROM (
        SELECT 1 FROM deliveries
        WHERE ${DeliveryRows.ofDelivery(sql)} = recovering.id AND status = 'pending' AND due_at <= now()
        LIMIT recovering.step
      ) AS due
    ) AS due
  ), read AS (
    SELECT room.id, room.step - room.taken AS free, next.event_id, next.position, next.may_come,
      count(*) FILTER (WHERE next.may_come) OVER (PARTITION BY room.id ORDER BY next.position) AS number
    FROM room
    CROSS JOIN LATERAL (
      SELECT event_id, position,
        due_at > now() AND leased_until IS NULL AND ${DeliveryRows.ofDelivery(sql)} = room.id
          AND (retry_at IS NULL OR claimed_at <= now() - interval '${sql.literal(again)}')
          -- It has failed since, and its webhook is about to be counted as failing.
          AND (claimed_at IS NULL OR claimed_at <= room.since) AS may_come
      FROM deliveries
      WHERE deliveries.domain_id = room.domain_id AND status = 'pending' AND deliveries.position > room.position
      ORDER BY deliveries.position LIMIT ${mostRead}
    ) AS next
    WHERE room.step > room.taken
  ), brought AS (
    UPDATE deliveries SET
      retry_at = deliveries.due_at,
      -- Oldest first, all due now: the clock of the embedded database has milliseconds.
      due_at = now() + make_interval(secs => (number - ${DeliveryRows.mostDue}) * 0.000001)
    FROM read
    WHERE read.may_come AND read.number <= read.free
      AND deliveries.event_id = read.event_id AND deliveries.status = ${"pending"} AND deliveries.leased_until IS NULL
    RETURNING deliveries.domain_id, ${DeliveryRows.ofDelivery(sql)} AS webhook_id
  ), reached AS (
    SELECT id, max(position) FILTER (WHERE number <= free) AS position,
      count(*) = ${mostRead} OR max(number) > max(free) AS is_more
    FROM read GROUP BY id
  ), advanced AS (
    SELECT room.id, coalesce(reached.position, room.position) AS position,
      -- Without room, whether there is more is not known yet.
      room.step <= room.taken OR coalesce(reached.is_more, false) AS is_more, room.step
    FROM room LEFT JOIN reached USING (id)
  ), stored AS (
    ${WebhookState.advanceRecovery(sql)}
  )
  SELECT DISTINCT domain_id, webhook_id FROM brought
`

/** Lets webhooks catch up once they answer again, while the process runs. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const next = step(sql)
    const feed = yield* EventFeed
    const isDue = yield* (yield* DueWork).watch(sql`SELECT true FROM webhooks WHERE recovering_at <= now() LIMIT 1`)
    yield* BackgroundLoop.every(
      "1 second",
      "Bringing the retries of a recovered webhook forward failed",
      Effect.gen(function* () {
        if (!(yield* isDue)) return
        for (const { domainId, webhookId } of yield* next) feed.announce(domainId, { due: webhookId })
      })
    )
  })
)
