import { Clock, DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as Batcher from "../database/Batcher.ts"
import * as Columns from "../database/Columns.ts"
import { isUnreachable } from "../database/Database.ts"
import * as LiveDomain from "../domains/state/LiveDomain.ts"
import * as Uuid7 from "../model/Uuid7.ts"
import * as WebhookState from "../webhooks/state/WebhookState.ts"
import * as DeadCount from "./DeadCount.ts"
import { type Lease, pull } from "./Lease.ts"
import type { Outcome } from "./WebhookSender.ts"

/** The outcome of an attempt, and the next state of its delivery. */
export interface Settlement {
  readonly lease: Lease
  /** Milliseconds since 1970. */
  readonly requestedAt: number
  readonly outcome: Outcome
  /** The delay the receiver requested. */
  readonly askedSeconds: number
  readonly status: string
  readonly waitSeconds: number
}

/** The current target of a webhook, as listed in attempts. */
const target = (sql: SqlClient.SqlClient) =>
  sql`CASE WHEN webhooks.action = 'pull' THEN '${sql.literal(pull)}' ELSE webhooks.url END`

/** True if the webhook has the target of the attempt still: URL, format and credentials. */
const isSame = (sql: SqlClient.SqlClient) => sql`(
  ${target(sql)} IS NOT DISTINCT FROM input.url AND webhooks.format IS NOT DISTINCT FROM input.format
  AND webhooks.credentials IS NOT DISTINCT FROM input.credentials
)`

/** The CTE `input`: the outcomes in order. */
const input = (sql: SqlClient.SqlClient, all: ReadonlyArray<Settlement>, ids: ReadonlyArray<string>) => {
  const column = Columns.of(all)
  return sql`
    input AS (
      SELECT *, error IS NULL AS ok FROM unnest(
        ${Columns.of(ids)("uuid", (id) => id)},
        ${column("uuid", ({ lease }) => lease.eventId)},
        ${column("uuid", ({ lease }) => lease.domainId)},
        ${column("uuid", ({ lease }) => lease.webhookId)},
        ${column("int4", ({ lease }) => lease.attempt)},
        ${column("text", ({ lease }) => lease.url)},
        ${column("text", ({ lease }) => lease.format)},
        ${column("bytea", ({ lease }) => lease.credentials)},
        ${column("timestamptz", ({ requestedAt }) => DateTime.toDateUtc(DateTime.makeUnsafe(requestedAt)))},
        ${column("int4", ({ outcome }) => Math.round(outcome.durationMs))},
        ${column("int4", ({ outcome }) => outcome.statusCode)},
        ${column("text", ({ outcome }) => outcome.error)},
        ${column("text", ({ outcome }) => outcome.responseBody)},
        ${column("bool", ({ outcome }) => outcome.isFinal)},
        ${column("float8", ({ askedSeconds }) => askedSeconds)},
        ${column("text", ({ status }) => status)},
        ${column("float8", ({ waitSeconds }) => waitSeconds)}
      ) WITH ORDINALITY AS input (
        attempt_id, event_id, domain_id, webhook_id, attempt, url, format, credentials, requested_at, duration_ms, status_code,
        error, response_body, is_final, asked_seconds, next_status, wait_seconds, ordinal
      )
    )
  `
}

/**
 * The CTE `outcome`: whether an outcome counts, and whether it changes the health of its webhook. A failure locks its
 * webhook against a change of its target: of two at the same time, the change would miss a delivery that is about to
 * wait, and the failure would not know the new target, at which it is due at once.
 */
const judged = (sql: SqlClient.SqlClient) => sql`
  failing AS MATERIALIZED (
    SELECT * FROM webhooks WHERE id = ANY(ARRAY(SELECT webhook_id FROM input WHERE NOT ok)) ORDER BY id FOR SHARE
  ), targets AS (
    SELECT * FROM failing
    UNION ALL
    SELECT * FROM webhooks
    WHERE id = ANY(ARRAY(SELECT webhook_id FROM input WHERE ok)) AND id <> ALL(ARRAY(SELECT id FROM failing))
  ), outcome AS (
    SELECT input.*,
      ${isSame(sql)} AS is_same,
      -- A failure that does not count: at a paused webhook, or at one that has moved since.
      NOT ok AND (
        NOT ${isSame(sql)}
        OR (webhooks.paused_at IS NOT NULL AND NOT input.is_final)
      ) AS is_uncounted,
      -- A raw message that is gone says nothing about the webhook.
      CASE WHEN webhooks.url IS NULL OR (input.is_final AND input.status_code IS NULL) THEN false
        WHEN ok THEN webhooks.failing_since IS NOT NULL OR webhooks.paused_at IS NOT NULL
        ELSE webhooks.failing_since IS NULL
        OR (webhooks.paused_at IS NULL AND (
          webhooks.failures < ${WebhookState.fewestFailures} OR (
            webhooks.failure_days < ${WebhookState.fewestDays}
            AND webhooks.failed_on IS DISTINCT FROM (now() AT TIME ZONE 'UTC')::date
          )
        )) OR (
          webhooks.failing_since <= now() - make_interval(days => ${WebhookState.failingDays}) AND (
            webhooks.paused_at IS NULL
            OR webhooks.probe_at < now() + make_interval(secs => input.asked_seconds)
          )
        )
      END AS is_news
    FROM input LEFT JOIN targets AS webhooks ON webhooks.id = input.webhook_id
  )
`

/** A failure before the scheduled time. It costs no attempt of the schedule. A final one counts at any time. */
const isEarly = (sql: SqlClient.SqlClient) => sql`(NOT ok AND retry_at > now() AND NOT outcome.is_final)`

/** The CTEs `attempt`, which lists the attempt in any case, and `settled`, which only the current lease changes. */
const stored = (sql: SqlClient.SqlClient) => sql`
  attempt AS (
    INSERT INTO delivery_attempts (
      id, event_id, domain_id, webhook_id, attempt, url, requested_at, duration_ms, status_code, ok, error,
      response_body
    )
    SELECT attempt_id, event_id, input.domain_id, nullif(webhook_id, input.domain_id), attempt, url, requested_at, duration_ms, status_code, ok, error,
      response_body
    FROM input JOIN events ON events.id = input.event_id
    ON CONFLICT (event_id, attempt) DO UPDATE SET
      requested_at = excluded.requested_at, duration_ms = excluded.duration_ms,
      status_code = excluded.status_code, ok = excluded.ok, error = excluded.error,
      response_body = excluded.response_body
  ), settled AS (
    UPDATE deliveries SET
      -- Replayed since the request began: a failure leaves it due, with the fresh budget.
      status = CASE WHEN is_uncounted OR (spent >= attempts AND NOT ok) OR ${isEarly(sql)}
        THEN 'pending' ELSE next_status END,
      spent = CASE WHEN is_uncounted OR ${isEarly(sql)} THEN least(spent + 1, attempts) ELSE spent END,
      due_at = CASE
        WHEN spent >= attempts AND NOT ok THEN due_at
        -- At a new URL it is due at once; at a paused one every other comes before it.
        WHEN is_uncounted AND NOT is_same THEN due_at
        WHEN is_uncounted THEN now() + interval '1 day'
        WHEN ${isEarly(sql)} THEN greatest(retry_at, now() + make_interval(secs => asked_seconds))
        ELSE now() + make_interval(secs => wait_seconds)
      END,
      -- Kept until the attempt on schedule. A delay that the receiver asked for is not cut short either.
      retry_at = CASE
        WHEN ok OR is_uncounted THEN NULL
        WHEN ${isEarly(sql)} THEN retry_at
        WHEN asked_seconds > 0 THEN now() + make_interval(secs => wait_seconds)
      END,
      leased_until = NULL,
      delivered_at = CASE WHEN ok THEN now() END,
      last_error = outcome.error
    FROM outcome
    WHERE deliveries.event_id = outcome.event_id AND deliveries.attempts = outcome.attempt
      -- Held since the request began: a success still counts.
      AND (deliveries.status = ${"pending"} OR (deliveries.status = ${"held"} AND ok))
    RETURNING outcome.ordinal, deliveries.domain_id, ok, deliveries.status = 'dead' AS is_dead,
      is_same AND is_news AS is_news
  )
`

/** The statement that stores outcomes, and returns which change their webhook's health. */
export const statement = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const newId = Uuid7.make((bytes) => Effect.runSync(random.randomBytes(bytes)))
  const rest = sql`
    ${judged(sql)}, ${stored(sql)}, live AS (
      ${LiveDomain.makeLive(sql, sql`SELECT domain_id FROM settled WHERE ok`)}
    )
    SELECT ordinal, is_news, is_dead FROM settled
  `

  return Effect.fnUntraced(function* (all: ReadonlyArray<Settlement>) {
    const now = yield* Clock.currentTimeMillis
    const ids = all.map(() => newId(now))
    const rows = yield* sql<{ readonly ordinal: bigint; readonly isNews: boolean; readonly isDead: boolean }>`
      WITH ${input(sql, all, ids)}, ${rest}
    `
    const dead = rows.filter(({ isDead }) => isDead).length
    if (dead > 0) yield* DeadCount.add(dead)
    const news = new Set(rows.flatMap(({ isNews, ordinal }) => (isNews ? [Number(ordinal)] : [])))
    return all.map((_, index) => news.has(index + 1))
  })
})

/**
 * Makes a function that stores an outcome, many in one statement and commit. Succeeds with true if the webhook's health
 * changed.
 */
export const make = Effect.gen(function* () {
  const write = yield* statement
  return yield* Batcher.make((all: ReadonlyArray<Settlement>) => write(all), {
    isOutage: isUnreachable,
    bytesOf: () => 2_048,
    // No client waits for the outcome of a finished request.
    gather: { millis: 8, enough: 16 }
  })
})
