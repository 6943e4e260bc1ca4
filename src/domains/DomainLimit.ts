import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Conflict } from "../model/ApiError.ts"
import type { DomainName } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"

/** The domains that count: those of the workspace without its instant inbox, plus paid orders. */
export const held = (sql: SqlClient.SqlClient, workspaceId: WorkspaceId, besides = "") =>
  sql<{ readonly name: string }>`
    SELECT name FROM domains WHERE workspace_id = ${workspaceId} AND origin IN ('byo', 'purchased')
    UNION
    SELECT name FROM orders
    WHERE workspace_id = ${workspaceId} AND status IN ('paid', 'registering', 'provisioning')
      AND name <> ${besides}
  `

/**
 * Checks whether a workspace may have another domain with this name (`MAX_DOMAINS_PER_WORKSPACE`). Runs in the
 * caller's transaction. Concurrent requests are serialized, so that two never take the same last place.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { domainsPerWorkspace: most } = yield* Settings.limits

  return Effect.fnUntraced(function* (workspaceId: WorkspaceId, name: DomainName) {
    // A lock that does not block rows with a reference to the workspace.
    yield* sql`SELECT 1 FROM workspaces WHERE id = ${workspaceId} FOR NO KEY UPDATE`
    const own = yield* held(sql, workspaceId, name)
    if (own.some((domain) => domain.name === name)) {
      return yield* new Conflict({
        message: `${name} is already in this workspace. GET /api/domains shows it`
      })
    }
    if (most > 0 && own.length >= most) {
      return yield* new Conflict({
        message: `A workspace can have ${most} domain${most === 1 ? "" : "s"} of its own, and has ${own
          .map((domain) => domain.name)
          .slice(0, 3)
          .join(", ")}. Ask the operator for more, or remove one with DELETE /api/domains/{id}, which erases its mail`
      })
    }
  })
})
