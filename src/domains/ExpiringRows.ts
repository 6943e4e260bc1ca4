import { Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { DomainId, type DomainName } from "../model/Domain.ts"

// Writes to `domains` for demo inboxes and the sweeper.

/** Inserts the domain of a demo inbox. Part of a statement. */
export const insertDemo = (sql: SqlClient.SqlClient, id: DomainId, name: DomainName) => sql`
  INSERT INTO domains (id, name, origin, status, verified_at)
  VALUES (${id}, ${name}, 'demo', 'verified', now())
  RETURNING id
`

/** Deletes domains of customers that were not verified within so many days. */
export const deleteUnverified = (sql: SqlClient.SqlClient, days: number) => sql`
  DELETE FROM domains
  WHERE status = 'pending_verification' AND origin = 'byo' AND created_at < now() - make_interval(days => ${days})
`

/** Deletes up to so many demo inboxes past their time. */
export const deleteDemos = (sql: SqlClient.SqlClient, most: number) =>
  SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: DomainId }),
    execute: () => sql`
      DELETE FROM domains WHERE id IN (
        SELECT domain_id FROM demo_sessions WHERE expires_at < now()
        ORDER BY expires_at LIMIT ${most}
        FOR UPDATE SKIP LOCKED
      )
      RETURNING id
    `
  })
