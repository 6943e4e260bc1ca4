import type { SqlClient, Statement } from "effect/sql"

/** Makes the domains live whose mail was delivered first. `delivered` selects their ids. */
export const makeLive = (sql: SqlClient.SqlClient, delivered: Statement.Fragment) => sql`
  UPDATE domains SET status = 'live', live_at = now()
  WHERE status IN ('verified', 'mx_pending') AND id IN (${delivered})
`
