import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { DomainId } from "../model/Domain.ts"

/** Positions that lie between these, both left out. */
export interface Positions {
  readonly above: bigint
  readonly below: bigint
}

/** Covers the minute that `events_out_of_step` allows, and the statement that gave the position. */
const slackMinutes = 2

/**
 * Finds the positions among which the events of a time are, by halving: positions
 * are given out in the order in which messages are read, so no index by time is
 * needed. Events are read within a minute after they were received; the few that
 * were not are in an index of their own, and widen what is found.
 */
export const make =
  (sql: SqlClient.SqlClient) =>
  (
    domainId: DomainId,
    { since, until }: { readonly since: DateTime.Utc | undefined; readonly until: DateTime.Utc | undefined }
  ) => {
    const timeOf = (time: DateTime.Utc | undefined, otherwise: "infinity" | "-infinity") =>
      time === undefined ? sql`${otherwise}::timestamptz` : sql`${DateTime.toDateUtc(time)}::timestamptz`
    const from = timeOf(since, "-infinity")
    const to = timeOf(until, "infinity")

    const strays = (position: "min" | "max") => sql`(
      SELECT ${sql.literal(position)}(position) FROM events
      WHERE domain_id = ${domainId} AND received_at >= ${from} AND received_at <= ${to}
        AND (read_at IS NULL OR abs(extract(epoch FROM read_at - received_at)) > 60)
    )`

    /** Everything up to `low` was read before the time, everything from `high` on was not. */
    const search = (time: ReturnType<typeof timeOf>) => sql`
      (
        WITH RECURSIVE halves AS (
          SELECT
            coalesce((SELECT position FROM events WHERE domain_id = ${domainId} ORDER BY position LIMIT 1) - 1, 0) AS low,
            coalesce((SELECT position FROM events WHERE domain_id = ${domainId} ORDER BY position DESC LIMIT 1) + 1, 0)
              AS high
          UNION ALL
          SELECT CASE WHEN is_before THEN middle ELSE low END, CASE WHEN is_before THEN high ELSE middle END
          FROM halves
          CROSS JOIN LATERAL (SELECT (low + high) / 2 AS middle) AS half
          CROSS JOIN LATERAL (
            -- Of a removed event the next one tells. Those of unknown time are older than all others.
            SELECT coalesce((
              SELECT coalesce(read_at < ${time}, true) FROM events
              WHERE domain_id = ${domainId} AND position >= middle ORDER BY position LIMIT 1
            ), false) AS is_before
          ) AS probe
          WHERE high - low > 8
        )
        SELECT low, high FROM halves ORDER BY high - low LIMIT 1
      )
    `

    return Effect.map(
      sql<Positions>`
        SELECT least(earlier.low, ${strays("min")} - 1) AS above, greatest(later.high, ${strays("max")} + 1) AS below
        FROM ${search(sql`${from} - make_interval(mins => ${slackMinutes})`)} AS earlier,
          ${search(sql`${to} + make_interval(mins => ${slackMinutes})`)} AS later
      `,
      ([found]) => found ?? { above: 0n, below: 0n }
    )
  }
