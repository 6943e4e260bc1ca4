import type { SqlClient } from "effect/sql"

/** The smallest UUIDv7 of the time so many days ago, by the clock of the database. Smaller ids are older. */
export const bound = (sql: SqlClient.SqlClient, days: number) => sql`
  (lpad(to_hex((extract(epoch FROM now() - make_interval(days => ${days})) * 1000)::bigint), 12, '0')
    || '70008000000000000000')::uuid
`
