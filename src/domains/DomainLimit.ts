import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Conflict } from "../model/ApiError.ts"
import type { DomainName } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"

/**
 * Whether a workspace may have one more domain of this name: `MAX_DOMAINS_PER_WORKSPACE`
 * counts those it has, the instant inbox left out, and those it is buying. Runs in the
 * caller's transaction, in which requests at once take turns, so that no two of them
 * see the same last place.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { domainsPerWorkspace: most } = yield* Settings.limits

  return Effect.fnUntraced(function* (workspaceId: WorkspaceId, name: DomainName) {
    // A lock that rows which refer to the workspace don't wait for.
    yield* sql`SELECT 1 FROM workspaces WHERE id = ${workspaceId} FOR NO KEY UPDATE`
    const own = yield* sql<{ readonly name: string }>`
      SELECT name FROM domains WHERE workspace_id = ${workspaceId} AND origin IN ('byo', 'purchased')
      UNION
      SELECT name FROM orders
      WHERE workspace_id = ${workspaceId} AND status IN ('pending_payment', 'paid', 'registering', 'provisioning')
        AND name <> ${name}
    `
    if (own.some((domain) => domain.name === name)) {
      return yield* new Conflict({ message: `${name} is already registered in this workspace` })
    }
    if (most > 0 && own.length >= most) {
      return yield* new Conflict({
        message: `A workspace can have ${most} domain${most === 1 ? "" : "s"}; delete one, or create another workspace`
      })
    }
  })
})
