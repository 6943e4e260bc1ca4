import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** The name of this process's connections. Earlier versions, which know one webhook for each domain, have "inlet". */
export const applicationName = "inlet with webhooks"

/** True if processes of the previous version are connected, as in the time of an upgrade. */
export const isConnected = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'inlet' LIMIT 1`,
    (found) => found.length > 0
  )
