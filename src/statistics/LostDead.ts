import type { SqlClient } from "effect/sql"

/**
 * Counts the deliveries of the CTE `postponed` that became dead without an outcome, on this day. Part of the statement
 * that makes them dead: the time of their last attempt may be hours ago, which `DayCounter` has passed.
 */
export const count = (sql: SqlClient.SqlClient) => sql`
  INSERT INTO domain_days AS days (domain_id, day, dead)
  SELECT domains.id, (now() AT TIME ZONE 'UTC')::date, count(*)
  FROM postponed JOIN domains ON domains.id = postponed.domain_id
  WHERE postponed.status = 'dead' AND workspace_id IS NOT NULL
  GROUP BY domains.id
  ON CONFLICT (domain_id, day) DO UPDATE SET dead = days.dead + excluded.dead
`
