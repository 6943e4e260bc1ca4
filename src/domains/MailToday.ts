import type { SqlClient } from "effect/sql"

/**
 * The mail of a workspace on this UTC day, in a query of `workspaces` and their `daily_intake`. Without a daily limit
 * Inlet does not count messages as they come. The statistics count their events then, once a minute.
 */
export const of = (sql: SqlClient.SqlClient) => sql`coalesce(
  daily_intake.accepted,
  (SELECT sum(domain_days.accepted)::int FROM domains JOIN domain_days ON domain_days.domain_id = domains.id
    WHERE domains.workspace_id = workspaces.id AND domain_days.day = (now() AT TIME ZONE 'UTC')::date),
  0
)`
