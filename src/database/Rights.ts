import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * What intake, readers and deliveries do with their tables. A row lock needs `UPDATE`, and `RETURNING` and `WHERE` need
 * `SELECT`.
 */
export const needed: Readonly<Record<string, ReadonlyArray<string>>> = {
  workspaces: ["SELECT"],
  domains: ["SELECT", "UPDATE"],
  webhooks: ["SELECT", "UPDATE"],
  sender_rules: ["SELECT"],
  demo_sessions: ["SELECT"],
  daily_intake: ["SELECT", "INSERT", "UPDATE"],
  client_limits: ["SELECT", "INSERT", "UPDATE"],
  received_once: ["SELECT", "INSERT", "UPDATE"],
  inbound_emails: ["SELECT", "INSERT", "UPDATE"],
  event_positions: ["SELECT", "INSERT", "UPDATE"],
  events: ["SELECT", "INSERT"],
  deliveries: ["SELECT", "INSERT", "UPDATE"],
  delivery_attempts: ["SELECT", "INSERT", "UPDATE"],
  domain_days: ["SELECT", "INSERT", "UPDATE"],
  write_trials: ["SELECT", "INSERT", "UPDATE"]
}

const pairs = Object.entries(needed).flatMap(([table, rights]) => rights.map((right) => ({ table, right })))
const tables = pairs.map(({ table }) => table)
const rights = pairs.map(({ right }) => right)

interface Lack {
  readonly table: string
  readonly missing: string
}

/** Most tables that a message names. */
const mostNamed = 5

const worded = (lacks: ReadonlyArray<Lack>): string | undefined => {
  if (lacks.length === 0) return undefined
  const named = lacks.slice(0, mostNamed).map(({ missing, table }) => `${missing} on ${table}`)
  const others = lacks.length - named.length
  const list =
    others === 0
      ? named.join(" and ")
      : `${named.join("; ")}; and rights on ${others === 1 ? "another table" : `${others} other tables`}`
  return `DATABASE_URL: The role lacks ${list}. GRANT them, or make the role the owner of the tables`
}

/**
 * The rights that the role of the connection lacks on the tables of mail, with the next step. Undefined if it lacks
 * none. Tables that do not exist yet are skipped.
 */
export const trouble = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<Lack>`
      SELECT "table", string_agg("right", ', ' ORDER BY at) AS missing
      FROM unnest(${tables}::text[], ${rights}::text[]) WITH ORDINALITY AS needed ("table", "right", at)
      WHERE NOT has_table_privilege(to_regclass("table"), "right")
      GROUP BY "table" ORDER BY min(at)
    `,
    worded
  )

/**
 * As `trouble`, for all work of the service: orders, statistics, retention and the like need every right on every table
 * beside those of the owner.
 */
export const troubleAnywhere = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<Lack>`
      SELECT ours.relname AS "table", string_agg("right", ', ' ORDER BY at) AS missing
      FROM pg_class AS ours
      JOIN pg_class AS mail
        ON mail.oid = to_regclass('inbound_emails')
        AND ours.relnamespace = mail.relnamespace AND ours.relowner = mail.relowner
      CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) WITH ORDINALITY AS needed ("right", at)
      WHERE ours.relkind = 'r' AND NOT has_table_privilege(ours.oid, "right")
      GROUP BY ours.relname ORDER BY ours.relname
    `,
    worded
  )
