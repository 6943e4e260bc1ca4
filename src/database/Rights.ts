import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * What intake, readers and deliveries do with their tables. A row lock needs `UPDATE`, and `RETURNING` and `WHERE` need
 * `SELECT`.
 */
const needed: Readonly<Record<string, ReadonlyArray<string>>> = {
  workspaces: ["SELECT"],
  domains: ["SELECT", "UPDATE"],
  webhooks: ["SELECT", "UPDATE"],
  sender_rules: ["SELECT"],
  daily_intake: ["SELECT", "INSERT", "UPDATE"],
  client_limits: ["SELECT", "INSERT", "UPDATE"],
  received_once: ["SELECT", "INSERT", "UPDATE"],
  inbound_emails: ["SELECT", "INSERT", "UPDATE"],
  event_positions: ["SELECT", "INSERT", "UPDATE"],
  events: ["SELECT", "INSERT"],
  deliveries: ["SELECT", "INSERT", "UPDATE"],
  delivery_attempts: ["SELECT", "INSERT", "UPDATE"],
  write_trials: ["SELECT", "INSERT", "UPDATE"]
}

const pairs = Object.entries(needed).flatMap(([table, rights]) => rights.map((right) => ({ table, right })))
const tables = pairs.map(({ table }) => table)
const rights = pairs.map(({ right }) => right)

/**
 * The rights that the role of the connection lacks on the tables of mail, with the next step. Undefined if it lacks
 * none. Tables that do not exist yet are skipped.
 */
export const trouble = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly table: string; readonly missing: string }>`
      SELECT "table", string_agg("right", ', ' ORDER BY at) AS missing
      FROM unnest(${tables}::text[], ${rights}::text[]) WITH ORDINALITY AS needed ("table", "right", at)
      WHERE NOT has_table_privilege(to_regclass("table"), "right")
      GROUP BY "table" ORDER BY min(at)
    `,
    (lacks) =>
      lacks.length === 0
        ? undefined
        : `DATABASE_URL: The role lacks ${lacks.map(({ missing, table }) => `${missing} on ${table}`).join(" and ")}. GRANT them, or make the role the owner of the tables`
  )
