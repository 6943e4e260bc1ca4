import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { WebhookId } from "../model/Webhook.ts"
import * as DeliveryRows from "./DeliveryRows.ts"
import { pull } from "./Lease.ts"

/** The attempts of the domain that the figures are of, at most. */
export const mostAttempts = 1_000

/** Deliveries of a domain and a status that are counted, at most. */
export const mostCounted = 10_000

const time = Schema.NullOr(Schema.DateTimeUtcFromString)
const date = Schema.NullOr(Schema.DateTimeUtcFromDate)

export const Health = Schema.Struct({
  attempts: Schema.Int.annotate({ description: `requests of the last 24 hours, up to the last ${mostAttempts}` }),
  failed: Schema.Int.annotate({ description: "those of them without a 2xx" }),
  p50_ms: Schema.NullOr(Schema.Int).annotate({ description: "median duration of the requests with 2xx" }),
  p99_ms: Schema.NullOr(Schema.Int),
  last_success_at: time.annotate({ description: "of the present URL, or of leases if it has none" }),
  last_failure_at: time,
  last_error: Schema.NullOr(Schema.String),
  failing_since: time.annotate({ description: "since when every attempt fails, or null" }),
  paused_at: time,
  next_probe_at: time.annotate({ description: "when a paused webhook is tried next" }),
  pending: Schema.Int.annotate({ description: `deliveries that wait, counted up to ${mostCounted}` }),
  dead: Schema.Int.annotate({ description: `dead letters, counted up to ${mostCounted}` }),
  held: Schema.Int.annotate({ description: `held deliveries, counted up to ${mostCounted}` })
}).annotate({ identifier: "WebhookHealth" })
export type Health = typeof Health.Type

/** The newest attempts of a webhook, among those of its domain. Attempts of the catch-all name no webhook. */
export const attempts = (sql: SqlClient.SqlClient, id: string) => sql`
  SELECT requested_at, ok, duration_ms, status_code, error, url FROM (
    SELECT * FROM delivery_attempts
    WHERE domain_id = (SELECT domain_id FROM webhooks WHERE id = ${id}) ORDER BY requested_at DESC LIMIT ${mostAttempts}
  ) AS made
  WHERE coalesce(made.webhook_id, made.domain_id) = ${id} ORDER BY requested_at DESC
`

/** True if the figures of a webhook may leave out older attempts, or dead letters, because its domain has more. */
export const areCut = (sql: SqlClient.SqlClient, domainId: string) => sql`
  (SELECT count(*) FROM (SELECT 1 FROM delivery_attempts WHERE domain_id = ${domainId} LIMIT ${mostAttempts}) AS made)
    = ${mostAttempts} AS attempts_cut,
  (SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE domain_id = ${domainId} AND status = 'dead' LIMIT ${mostCounted}) AS dead)
    = ${mostCounted} AS dead_cut
`

const Row = Schema.Struct({
  attempts: Schema.Int,
  failed: Schema.Int,
  p50Ms: Schema.NullOr(Schema.Int),
  p99Ms: Schema.NullOr(Schema.Int),
  lastSuccessAt: date,
  lastFailureAt: date,
  lastError: Schema.NullOr(Schema.String),
  failingSince: date,
  pausedAt: date,
  nextProbeAt: date,
  pending: Schema.Int,
  dead: Schema.Int,
  held: Schema.Int
})

/** Waiting deliveries that a domain's record counts, at most. */
const mostWaiting = 1_000

export const Failing = Schema.Struct({
  since: Schema.DateTimeUtcFromString,
  last_error: Schema.NullOr(Schema.String),
  waiting: Schema.Int.annotate({ description: `deliveries that wait, counted up to ${mostWaiting}` }),
  next_attempt_at: time.annotate({ description: "the next attempt, or the next trial of a paused webhook" })
}).annotate({ identifier: "WebhookFailing" })
export type Failing = typeof Failing.Type

const FailingRow = Schema.Struct({
  since: Schema.DateTimeUtcFromDate,
  lastError: Schema.NullOr(Schema.String),
  waiting: Schema.Int,
  nextAttemptAt: date
})

/** Computes the health of a webhook from its last attempts and its queue. */
export class WebhookHealth extends Context.Service<
  WebhookHealth,
  {
    of(webhookId: WebhookId): Effect.Effect<Health, SqlError>
    /** The state of a webhook whose last attempts all failed, or null. */
    failing(webhookId: WebhookId): Effect.Effect<Failing | null, SqlError>
  }
>()("inlet/delivery/WebhookHealth") {
  static readonly layer = Layer.effect(
    WebhookHealth,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const counted = (status: string) => sql`(
        SELECT count(*)::int FROM (
          SELECT ${DeliveryRows.ofDelivery(sql)} AS webhook_id FROM deliveries
          WHERE deliveries.domain_id = webhooks.domain_id AND status = '${sql.literal(status)}' LIMIT ${mostCounted}
        ) AS counted WHERE webhook_id = webhooks.id
      )`

      // Bounded by the newest attempts, however many a domain has.
      const select = SqlSchema.findOne({
        Request: WebhookId,
        Result: Row,
        execute: (id) => sql`
          WITH recent AS MATERIALIZED (
            ${attempts(sql, id)}
          ), today AS (
            SELECT * FROM recent WHERE requested_at > now() - interval '24 hours'
          )
          SELECT
            (SELECT count(*)::int FROM today) AS attempts,
            (SELECT count(*)::int FROM today WHERE NOT ok) AS failed,
            (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) FROM today WHERE ok) AS p50_ms,
            (SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY duration_ms) FROM today WHERE ok) AS p99_ms,
            -- A success of an earlier URL says nothing about this one.
            (
              SELECT max(requested_at) FROM recent WHERE ok AND recent.url = coalesce(webhooks.url, '${sql.literal(pull)}')
            ) AS last_success_at,
            (SELECT max(requested_at) FROM recent WHERE NOT ok) AS last_failure_at,
            (SELECT error FROM recent WHERE NOT ok ORDER BY requested_at DESC LIMIT 1) AS last_error,
            failing_since, paused_at, probe_at AS next_probe_at,
            (
              SELECT count(*)::int FROM (
                SELECT 1 FROM deliveries WHERE ${DeliveryRows.ofDelivery(sql)} = ${id} AND status = 'pending' LIMIT ${mostCounted}
              ) AS counted
            ) AS pending, ${counted("dead")} AS dead, ${counted("held")} AS held
          FROM webhooks WHERE id = ${id}
        `
      })

      const of = Effect.fn("WebhookHealth.of")(
        (id: WebhookId) =>
          Effect.map(select(id), (row) => ({
            attempts: row.attempts,
            failed: row.failed,
            p50_ms: row.p50Ms,
            p99_ms: row.p99Ms,
            last_success_at: row.lastSuccessAt,
            last_failure_at: row.lastFailureAt,
            last_error: row.lastError,
            failing_since: row.failingSince,
            paused_at: row.pausedAt,
            next_probe_at: row.nextProbeAt,
            pending: row.pending,
            dead: row.dead,
            held: row.held
          })),
        Bugs.die
      )

      const selectFailing = SqlSchema.findAll({
        Request: WebhookId,
        Result: FailingRow,
        execute: (id) => sql`
          SELECT failing_since AS since,
            (SELECT error FROM (${attempts(sql, id)}) AS recent WHERE NOT ok LIMIT 1) AS last_error,
            (
              SELECT count(*)::int FROM (
                SELECT 1 FROM deliveries WHERE ${DeliveryRows.ofDelivery(sql)} = ${id} AND status = 'pending' LIMIT ${mostWaiting}
              ) AS counted
            ) AS waiting,
            CASE WHEN paused_at IS NULL THEN (
              SELECT due_at FROM deliveries WHERE ${DeliveryRows.ofDelivery(sql)} = ${id} AND status = 'pending' ORDER BY due_at LIMIT 1
            ) ELSE probe_at END AS next_attempt_at
          FROM webhooks WHERE id = ${id} AND failing_since IS NOT NULL AND url IS NOT NULL
        `
      })

      const failing = Effect.fn("WebhookHealth.failing")(function* (id: WebhookId) {
        const [row] = yield* selectFailing(id)
        return row === undefined
          ? null
          : {
              since: row.since,
              last_error: row.lastError,
              waiting: row.waiting,
              next_attempt_at: row.nextAttemptAt
            }
      }, Bugs.die)

      return WebhookHealth.of({ of, failing })
    })
  )
}
