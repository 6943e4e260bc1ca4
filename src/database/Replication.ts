import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** What a connection sees of the server's role and of its standbys. */
export interface Replication {
  readonly isStandby: boolean
  readonly isReadOnly: boolean
  /** `synchronous_commit` of the connection. */
  readonly commits: string
  /** `synchronous_standby_names`, empty if a commit waits for no standby. */
  readonly awaited: string
  /** Connected standbys. */
  readonly standbys: number
  /** Those that a commit may wait for. Null if the role may not see it, which `pg_monitor` allows. */
  readonly synchronous: number | null
}

/** Looks at the server of one connection. Takes under a millisecond. */
export const look = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<Replication>`
      SELECT pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only') = 'on' AS is_read_only,
        current_setting('synchronous_commit') AS commits, current_setting('synchronous_standby_names') AS awaited,
        count(pid)::int AS standbys,
        CASE WHEN count(pid) = count(sync_state)
          THEN (count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')))::int END AS synchronous
      FROM (VALUES (1)) AS one LEFT JOIN pg_stat_replication ON true
    `,
    ([row]): Replication =>
      row ?? { isStandby: false, isReadOnly: false, commits: "on", awaited: "", standbys: 0, synchronous: 0 }
  )

/** Why a mail answered `250` could be lost, or a write fails, with the next step. Undefined if nothing is wrong. */
export const trouble = ({
  awaited,
  commits,
  isReadOnly,
  isStandby,
  standbys,
  synchronous
}: Replication): string | undefined => {
  if (isStandby) {
    return "The database is a standby, which takes no writes. Either a failover is under way, or DATABASE_URL names a replica"
  }
  if (isReadOnly) return "The database is read-only: see default_transaction_read_only"
  if (commits === "off") {
    return "synchronous_commit is off, so a crash of the database loses mail that was answered 250. Set it to on (ALTER ROLE … SET synchronous_commit = on)"
  }
  if (awaited === "") return undefined
  if (commits === "local") {
    return "synchronous_commit is local, so no commit waits for the synchronous standby. Set it to on (ALTER ROLE … SET synchronous_commit = on)"
  }
  return standbys === 0 || synchronous === 0
    ? `No synchronous standby is connected, and commits wait for one (synchronous_standby_names = '${awaited}'). Start a standby`
    : undefined
}
