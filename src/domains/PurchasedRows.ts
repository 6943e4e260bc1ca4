import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { Conflict } from "../model/ApiError.ts"
import { DomainId, type DomainName } from "../model/Domain.ts"
import { WorkspaceId } from "../model/Workspace.ts"

// Writes to `domains` for purchases.

interface Purchased {
  readonly id: DomainId
  readonly workspaceId: WorkspaceId
  readonly name: DomainName
  readonly registrar: string
  readonly years: number
  readonly txtValue: string
}

/** Inserts a purchased domain. The workspace may have registered the name before it bought it. Part of a statement. */
export const insertPurchased = (sql: SqlClient.SqlClient, domain: Purchased) => sql`
  INSERT INTO domains (id, workspace_id, name, origin, status, txt_value, registrar, term_ends_at, verify_at)
  VALUES (
    ${domain.id}, ${domain.workspaceId}, ${domain.name}, 'purchased', 'pending_verification', ${domain.txtValue},
    ${domain.registrar}, now() + make_interval(years => ${domain.years}), now()
  )
  ON CONFLICT (workspace_id, name) DO UPDATE SET
    origin = 'purchased', registrar = excluded.registrar, term_ends_at = excluded.term_ends_at,
    verify_at = excluded.verify_at
  RETURNING id
`

/**
 * Attaches a name again that the workspace bought, deleted, and owns until the end of its term. The order publishes the
 * records again, in its next step, so that a loop of deleting and adding calls the registrar no faster. Returns no row
 * for any other name. Fails while a paid order for the name is in progress: the workspace could not publish the record
 * of a row of its own in that zone.
 */
export const takeBack = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  domain: Omit<Purchased, "registrar" | "years">
) {
  const [open] = yield* sql<{ readonly id: string }>`
    SELECT id FROM orders
    WHERE workspace_id = ${domain.workspaceId} AND name = ${domain.name}
      AND status IN ('paid', 'registering', 'provisioning')
  `
  if (open !== undefined) {
    return yield* new Conflict({
      message: `An order for ${domain.name} is in progress. GET /api/domains/orders/${open.id} shows it. Once it is completed, add the domain again unless the workspace has it by then`
    })
  }
  return yield* sql`
    WITH bought AS (
      SELECT id, registrar, created_at + make_interval(years => years) AS term_ends_at FROM orders
      WHERE workspace_id = ${domain.workspaceId} AND name = ${domain.name} AND status = 'completed'
        AND created_at + make_interval(years => years) > now()
      ORDER BY id DESC LIMIT 1
      FOR UPDATE
    ), attached AS (
      INSERT INTO domains (id, workspace_id, name, origin, status, txt_value, registrar, term_ends_at, verify_at)
      SELECT ${domain.id}, ${domain.workspaceId}, ${domain.name}, 'purchased', 'pending_verification', ${domain.txtValue},
        registrar, term_ends_at, now()
      FROM bought
      RETURNING id
    )
    UPDATE orders SET status = 'provisioning', domain_id = attached.id, tries = 0, failure = NULL
    FROM attached, bought WHERE orders.id = bought.id
    RETURNING attached.id
  `
})

/** Takes up to 16 purchased domains whose DNS check is due. The next check is set first, so that a crash costs one check. */
export const claimUnverified = (sql: SqlClient.SqlClient) =>
  SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: DomainId, workspaceId: WorkspaceId }),
    execute: () => sql`
      UPDATE domains SET
        verify_tries = verify_tries + 1,
        verify_at = now() + make_interval(secs => least(5 * 2 ^ least(verify_tries, 12), 3600))
      WHERE id IN (
        SELECT domains.id FROM domains
        -- Not before its records are published.
        JOIN orders ON orders.domain_id = domains.id AND orders.status = 'completed'
        WHERE domains.origin = 'purchased' AND domains.status = 'pending_verification' AND verify_at <= now()
        ORDER BY verify_at LIMIT 16
        FOR UPDATE OF domains SKIP LOCKED
      )
      RETURNING id, workspace_id
    `
  })

/** Disables a domain and releases its name, so that its next owner can verify it. */
export const drop = (sql: SqlClient.SqlClient, id: DomainId, reason: string) => sql`
  UPDATE domains SET
    status = 'disabled', status_before = 'pending_verification', verified_at = NULL, disabled_reason = ${reason}
  WHERE id = ${id}
`
