import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { WorkspaceId } from "../model/Workspace.ts"

/** Manages the URL to which a workspace has its operational events sent. */
export class OperationalWebhook extends Context.Service<
  OperationalWebhook,
  {
    /** Null if none is set. */
    get(workspaceId: WorkspaceId): Effect.Effect<string | null, SqlError>
    /** Waiting events go to the new URL at once. Null removes it, and makes them dead. Earlier events are not sent. */
    set(workspaceId: WorkspaceId, url: string | null): Effect.Effect<void, SqlError>
  }
>()("inlet/operations/OperationalWebhook") {
  static readonly layer = Layer.effect(
    OperationalWebhook,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const get = Effect.fn("OperationalWebhook.get")(function* (workspaceId: WorkspaceId) {
        const [row] = yield* sql<{ readonly url: string }>`
          SELECT url FROM operational_webhooks WHERE workspace_id = ${workspaceId}
        `
        return row?.url ?? null
      })

      // The row of the webhook first, which every other statement also locks first.
      const remove = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
        yield* sql`DELETE FROM operational_webhooks WHERE workspace_id = ${workspaceId}`
        yield* sql`
          UPDATE operational_deliveries
          SET next_attempt_at = NULL, last_error = coalesce(last_error, 'the operational webhook was removed')
          WHERE workspace_id = ${workspaceId} AND next_attempt_at IS NOT NULL
        `
      })

      const replace = Effect.fnUntraced(function* (workspaceId: WorkspaceId, url: string) {
        yield* sql`
          INSERT INTO operational_webhooks (workspace_id, url) VALUES (${workspaceId}, ${url})
          ON CONFLICT (workspace_id) DO UPDATE SET url = excluded.url, is_failing = false, turn_at = now()
        `
        yield* sql`
          UPDATE operational_deliveries SET next_attempt_at = now()
          WHERE workspace_id = ${workspaceId} AND next_attempt_at > now()
        `
      })

      const set = Effect.fn("OperationalWebhook.set")((workspaceId: WorkspaceId, url: string | null) =>
        sql.withTransaction(url === null ? remove(workspaceId) : replace(workspaceId, url))
      )

      return OperationalWebhook.of({ get, set })
    })
  )
}
