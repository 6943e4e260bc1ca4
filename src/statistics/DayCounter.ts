import { Context, Duration, Effect, Layer, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { Asker } from "../database/Turns.ts"
import { DomainId } from "../model/Domain.ts"
import type { SpamVerdict } from "../model/Spam.ts"
import * as Traits from "../model/Traits.ts"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"

/** Domains that one statement counts. */
const mostDomains = 20

/** Domains among which one statement looks for these. */
const mostLookedAt = 5_000

/** Events, and attempts, of a domain that one statement counts. */
const mostRows = 2_000

/** Seconds after the longest request until its outcome is certainly stored. */
const settledAfter = 30

/** Buckets of a doubling of the latency. */
export const bucketsPerDoubling = 4

/** The last bucket, for latencies of three days and more. */
const lastBucket = 112

/** Powers of two are in their own bucket, although the quotient of two logarithms may be a little less. */
const rounding = 1e-9

/** How often a worker counts. */
export const Interval = Context.Reference<Duration.Input>("inlet/statistics/DayCounter/Interval", {
  defaultValue: () => "1 minute"
})

/** Before the first domain. */
const start = DomainId.make("00000000-0000-0000-0000-000000000000")

/** Where a pass over the domains goes on, and whether a domain has more rows than one statement counts. */
interface Step {
  readonly after: DomainId
  readonly isLast: boolean
  readonly hasMore: boolean
}

/**
 * Counts the events and attempts of some domains of workspaces that came since the last pass into `domain_days`. Reads
 * each row once, by index, outside of the path of mail.
 */
const step = Effect.fnUntraced(function* (after: DomainId) {
  const sql = yield* SqlClient.SqlClient
  const { timeout } = yield* Settings.webhooks
  const lag = Duration.toSeconds(timeout) + settledAfter

  const look = sql<{ readonly due: ReadonlyArray<DomainId>; readonly last: DomainId | null }>`
    WITH next AS MATERIALIZED (
      SELECT domain_id, position FROM event_positions WHERE domain_id > ${after} ORDER BY domain_id LIMIT ${mostLookedAt}
    )
    SELECT (SELECT domain_id FROM next ORDER BY domain_id DESC LIMIT 1) AS last, ARRAY(
      SELECT next.domain_id FROM next JOIN domains ON domains.id = next.domain_id
      LEFT JOIN domain_days_counted AS counted ON counted.domain_id = domains.id
      WHERE domains.workspace_id IS NOT NULL AND (
        next.position > coalesce(counted.position, 0)
        OR EXISTS (
          SELECT 1 FROM delivery_attempts
          WHERE domain_id = domains.id AND requested_at > coalesce(counted.attempts_until, '-infinity')
            AND requested_at <= now() - make_interval(secs => ${lag})
        )
      )
      ORDER BY next.domain_id LIMIT ${mostDomains}
    ) AS due
  `

  const begin = (ids: ReadonlyArray<DomainId>) => sql`
    INSERT INTO domain_days_counted (domain_id)
    SELECT id FROM domains WHERE id = ANY(${ids}::uuid[])
    ON CONFLICT DO NOTHING
  `

  const isOf = (verdict: SpamVerdict) =>
    sql`(verdict IS NOT DISTINCT FROM ${sql.literal(`${Traits.ofVerdict(verdict)}`)})::int`

  /** Another process that counts the same domain at the same time finds it locked, and leaves it out. */
  const count = (ids: ReadonlyArray<DomainId>) => sql<{ readonly hasMore: boolean }>`
    WITH due AS MATERIALIZED (
      SELECT * FROM domain_days_counted WHERE domain_id = ANY(${ids}::uuid[]) FOR UPDATE SKIP LOCKED
    ), new_events AS MATERIALIZED (
      SELECT due.domain_id, event.* FROM due CROSS JOIN LATERAL (
        SELECT events.position, traits & ${sql.literal(`${Traits.verdictBits}`)} AS verdict, (events.received_at AT TIME ZONE 'UTC')::date AS day,
          coalesce(inbound_emails.raw_bytes, octet_length(payload)) AS bytes,
          (SELECT (hold_reason IS NOT NULL)::int FROM deliveries WHERE event_id = events.id) AS held
        FROM events JOIN inbound_emails ON inbound_emails.id = inbound_email_id
        WHERE events.domain_id = due.domain_id AND events.position > due.position
        ORDER BY events.position LIMIT ${mostRows}
      ) AS event
    ), new_attempts AS MATERIALIZED (
      SELECT due.domain_id, attempt.* FROM due CROSS JOIN LATERAL (
        SELECT requested_at, (requested_at AT TIME ZONE 'UTC')::date AS day, ok,
          -- The logarithm of a numeric takes 11 µs, and that of a float none.
          extract(epoch FROM requested_at - received_at)::float8 * 1000 + coalesce(duration_ms, 0) AS millis,
          -- LostDead counts those that are dead without an outcome.
          NOT ok AND duration_ms IS NOT NULL AND status = 'dead' AND deliveries.attempts = attempt AS is_dead
        FROM delivery_attempts JOIN events ON events.id = delivery_attempts.event_id
        JOIN deliveries ON deliveries.event_id = events.id
        WHERE delivery_attempts.domain_id = due.domain_id AND requested_at > due.attempts_until
          AND requested_at <= now() - make_interval(secs => ${lag})
        ORDER BY requested_at FETCH FIRST ${mostRows} ROWS WITH TIES
      ) AS attempt
    ), days AS (
      INSERT INTO domain_days AS days (
        domain_id, day, accepted, bytes, held, spam, virus, unscanned, delivered, failed, dead
      )
      SELECT domain_id, day, sum(accepted), sum(bytes), coalesce(sum(held), 0), sum(spam), sum(virus), sum(unscanned),
        sum(delivered), sum(failed), sum(dead)
      FROM (
        SELECT domain_id, day, 1 AS accepted, bytes, held, ${isOf("spam")} AS spam, ${isOf("virus")} AS virus,
          ${isOf("unknown")} AS unscanned, 0 AS delivered, 0 AS failed, 0 AS dead
        FROM new_events
        UNION ALL
        SELECT domain_id, day, 0, 0, 0, 0, 0, 0, ok::int, (NOT ok)::int, is_dead::int FROM new_attempts
      ) AS rows
      GROUP BY domain_id, day
      ON CONFLICT (domain_id, day) DO UPDATE SET
        accepted = days.accepted + excluded.accepted, bytes = days.bytes + excluded.bytes,
        held = days.held + excluded.held, spam = days.spam + excluded.spam, virus = days.virus + excluded.virus,
        unscanned = days.unscanned + excluded.unscanned,
        delivered = days.delivered + excluded.delivered, failed = days.failed + excluded.failed,
        dead = days.dead + excluded.dead
    ), latencies AS (
      INSERT INTO domain_day_latencies AS known (domain_id, day, bucket, deliveries)
      SELECT domain_id, day,
        least(
          ${lastBucket}, floor(${bucketsPerDoubling} * ln(greatest(millis, 1)) / ln(2::float8) + ${rounding}::float8)
        )::smallint AS bucket,
        count(*)
      FROM new_attempts WHERE ok GROUP BY 1, 2, 3
      ON CONFLICT (domain_id, day, bucket) DO UPDATE SET deliveries = known.deliveries + excluded.deliveries
    )
    UPDATE domain_days_counted SET
      position = greatest(
        domain_days_counted.position,
        (SELECT max(position) FROM new_events WHERE domain_id = due.domain_id),
        -- Events that were removed before they were counted are passed over.
        CASE WHEN NOT EXISTS (SELECT 1 FROM new_events WHERE domain_id = due.domain_id) THEN (
          SELECT position FROM event_positions WHERE domain_id = due.domain_id
        ) END
      ),
      attempts_until = greatest(
        domain_days_counted.attempts_until,
        (SELECT max(requested_at) FROM new_attempts WHERE domain_id = due.domain_id)
      )
    FROM due WHERE domain_days_counted.domain_id = due.domain_id
    RETURNING (SELECT count(*) FROM new_events WHERE domain_id = due.domain_id) >= ${mostRows}
      OR (SELECT count(*) FROM new_attempts WHERE domain_id = due.domain_id) >= ${mostRows} AS has_more
  `

  const [found] = yield* look
  const { due, last } = found ?? { due: [], last: null }
  const isFull = due.length === mostDomains
  const next = { after: (isFull ? due.at(-1) : last) ?? start, isLast: !isFull && last === null }
  if (due.length === 0) return { ...next, hasMore: false } satisfies Step
  yield* begin(due)
  const counted = yield* count(due)
  return { ...next, hasMore: counted.some(({ hasMore }) => hasMore) } satisfies Step
})

/** Steps in a row. The rest waits for the next round. */
const mostSteps = 500

/** Counts from a domain on, until nothing is left to count. Succeeds with the domain where the next round goes on. */
const countFrom = Effect.fnUntraced(function* (first: DomainId) {
  let after = first
  let isWhole = first === start
  let hasMore = false
  for (let steps = 0; steps < mostSteps; steps++) {
    const done = yield* step(after)
    after = done.after
    hasMore ||= done.hasMore
    if (!done.isLast) continue
    if (isWhole && !hasMore) break
    // The domains before the first one, or those with more rows, have their turn.
    isWhole = true
    hasMore = false
  }
  return after
})

/** Counts all that can be counted now. */
export const round = countFrom(start)

/** Counts every minute. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const position = yield* Ref.make(start)
    const all = Ref.get(position).pipe(
      Effect.flatMap(countFrom),
      Effect.flatMap((next) => Ref.set(position, next))
    )
    yield* BackgroundLoop.every(
      yield* Interval,
      { says: "The daily statistics could not be counted. Inlet retries in a minute", level: "Warn" },
      Effect.provideService(all, Asker, "statistics")
    )
  })
)
