import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import { mostDeliveries, type ReplayStatus } from "../model/Replay.ts"
import type * as TimeRange from "./TimeRange.ts"

/** The deliveries that a job replays. */
export interface Selection {
  readonly domainId: DomainId
  readonly status: ReplayStatus
  readonly since: DateTime.Utc | null
  readonly until: DateTime.Utc | null
  readonly recipient: string | null
}

/** A selection of a job. Events that are delivered after its start are not part of it, so it does not grow. */
export interface Started extends Selection {
  readonly startedAt: DateTime.Utc
}

/** Maximum rows that one statement reads for a count, so that no other statement waits for long. */
const readAtOnce = 5_000

/** Maximum rows that a count reads. Further ones are left to the next job. */
const mostRead = 1_000_000

/**
 * Reads the next deliveries in the order of positions, each with whether it is wanted. Dead and held ones are found in
 * the queue, delivered ones among the events.
 */
export const read = (
  sql: SqlClient.SqlClient,
  { domainId, recipient, since, startedAt, status, until }: Started,
  { above, below }: TimeRange.Positions,
  limit: number
) => {
  const range = sql`position > ${above} AND position < ${below} ORDER BY position LIMIT ${limit}`
  const isTo = recipient === null ? [] : [sql`lower(events.recipient) = lower(${recipient})`]
  const isIn = [
    ...(since === null ? [] : [sql`events.received_at >= ${DateTime.toDateUtc(since)}`]),
    ...(until === null ? [] : [sql`events.received_at <= ${DateTime.toDateUtc(until)}`])
  ]
  const all = (conditions: typeof isIn) => (conditions.length === 0 ? sql`true` : sql.and(conditions))
  if (status === "delivered") {
    return sql`
      SELECT events.id AS event_id, events.position, deliveries.status = 'delivered'
          AND deliveries.delivered_at <= ${DateTime.toDateUtc(startedAt)} AND ${all(isIn)} AS is_wanted
      FROM (SELECT * FROM events WHERE domain_id = ${domainId} AND ${all(isTo)} AND ${range}) AS events
      CROSS JOIN LATERAL (SELECT status, delivered_at FROM deliveries WHERE deliveries.event_id = events.id OFFSET 0) AS deliveries
    `
  }
  // Dead letters have the address, with an index.
  const isDeadTo = status === "dead" && recipient !== null ? sql`AND recipient = lower(${recipient})` : sql``
  const conditions = status === "dead" ? isIn : [...isTo, ...isIn]
  const found = sql`
    SELECT event_id, position FROM deliveries
    WHERE domain_id = ${domainId} AND status = '${sql.literal(status)}' AND hold_reason IS NULL ${isDeadTo} AND ${range}
  `
  if (conditions.length === 0) return sql`SELECT event_id, position, true AS is_wanted FROM (${found}) AS found`
  return sql`
    SELECT found.event_id, found.position, ${all(conditions)} AS is_wanted
    FROM (${found}) AS found
    CROSS JOIN LATERAL (SELECT * FROM events WHERE events.id = found.event_id OFFSET 0) AS events
  `
}

export interface Candidate {
  readonly eventId: EventId
  readonly position: bigint
  readonly isWanted: boolean
}

/** Counts a selection, at most as many as a job replays. Returns the position behind the last one. */
export const count = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  selection: Started,
  range: TimeRange.Positions
) {
  let total = 0
  let above = range.above
  for (let readSoFar = 0; readSoFar < mostRead; readSoFar += readAtOnce) {
    const left = mostDeliveries - total
    const [next] = yield* sql<{ readonly rows: number; readonly wanted: number; readonly last: bigint | null }>`
      WITH candidates AS (
        SELECT *, count(*) FILTER (WHERE is_wanted) OVER (ORDER BY position) AS number
        FROM (${read(sql, selection, { above, below: range.below }, readAtOnce)}) AS candidates
      )
      SELECT count(*)::int AS rows, count(*) FILTER (WHERE is_wanted AND number <= ${left})::int AS wanted,
        max(position) FILTER (WHERE number <= ${left}) AS last
      FROM candidates
    `
    if (next === undefined || next.last === null) return { total, below: range.below }
    total += next.wanted
    above = next.last
    if (total >= mostDeliveries) return { total, below: above + 1n }
    if (next.rows < readAtOnce) return { total, below: range.below }
  }
  return { total, below: above + 1n }
})
