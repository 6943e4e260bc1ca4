import { DateTime, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { DomainId } from "../model/Domain.ts"

/** Exclusive bounds of positions. */
export interface Positions {
  readonly above: bigint
  readonly below: bigint
}

interface Times {
  readonly since: DateTime.Utc | undefined
  readonly until: DateTime.Utc | undefined
}

/** Covers the minute that `events_out_of_step` allows, and the statement that assigned the position. */
const slackMinutes = 2

/**
 * Finds the range of positions for a time range by binary search, without an index by time, because positions follow
 * the order of parsing. Messages are parsed within 1 min after they were received. The few others have an index of
 * their own, and widen the range. `domainId` may be a column.
 */
export const bounds =
  (sql: SqlClient.SqlClient) =>
  (domainId: Statement.Fragment, { since, until }: Times) => {
    const isWanted = sql.and([
      ...(since === undefined ? [] : [sql`received_at >= ${DateTime.toDateUtc(since)}`]),
      ...(until === undefined ? [] : [sql`received_at <= ${DateTime.toDateUtc(until)}`])
    ])

    const strays = (position: "min" | "max") => sql`(
      SELECT ${sql.literal(position)}(position) FROM events
      WHERE domain_id = ${domainId} AND ${isWanted}
        AND abs(extract(epoch FROM read_at - received_at)) > 60
    )`

    /** Everything up to `low` was parsed before the time, everything from `high` on was not. */
    const search = (time: Statement.Fragment) => sql`
      (
        WITH RECURSIVE halves AS (
          SELECT
            coalesce((SELECT position FROM events WHERE domain_id = ${domainId} ORDER BY position LIMIT 1) - 1, 0) AS low,
            coalesce((SELECT position FROM events WHERE domain_id = ${domainId} ORDER BY position DESC LIMIT 1) + 1, 0)
              AS high
          UNION ALL
          SELECT CASE WHEN is_before THEN middle ELSE low END, CASE WHEN is_before THEN high ELSE middle END
          FROM halves
          CROSS JOIN LATERAL (
            -- In place of a removed event, the next one is compared.
            SELECT (low + high) / 2 AS middle, coalesce((
              SELECT read_at < ${time} FROM events
              WHERE domain_id = ${domainId} AND position >= (low + high) / 2 ORDER BY position LIMIT 1
            ), false) AS is_before
            -- Looked up once, not wherever it is named.
            OFFSET 0
          ) AS probe
          WHERE high - low > 8
        )
        SELECT low, high FROM halves ORDER BY high - low LIMIT 1
      )
    `

    /** With a margin, so that an event outside of these positions is certainly outside of the time range. */
    const above =
      since === undefined
        ? sql`0::bigint`
        : sql`
          SELECT least(low, ${strays("min")} - 1)
          FROM ${search(sql`${DateTime.toDateUtc(DateTime.subtract(since, { minutes: slackMinutes }))}`)} AS earlier
        `
    const below =
      until === undefined
        ? sql`${endOfPositions}::bigint`
        : sql`
          SELECT greatest(high, ${strays("max")} + 1)
          FROM ${search(sql`${DateTime.toDateUtc(DateTime.add(until, { minutes: slackMinutes }))}`)} AS later
        `
    return { above: sql`(${above})`, below: sql`(${below})` }
  }

/** The same for one domain. */
export const make = (sql: SqlClient.SqlClient) => {
  const boundsOf = bounds(sql)
  return (domainId: DomainId, times: Times) => {
    const { above, below } = boundsOf(sql`${domainId}::uuid`, times)
    return Effect.map(
      sql<Positions>`SELECT ${above} AS above, ${below} AS below`,
      ([found]) => found ?? { above: 0n, below: endOfPositions }
    )
  }
}

/** The largest bigint, beyond every position. */
export const endOfPositions = 2n ** 63n - 1n
