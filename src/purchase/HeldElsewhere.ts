import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { OrderRow } from "./Orders.ts"

/** The failure of an order for a name that another workspace verified, which would get its mail. */
export const heldElsewhere = "Another workspace of this service holds the name"

/**
 * Makes a function that tells whether another workspace has verified a name. Its registration may have lapsed since, so
 * that a registrar sells it. Only the operator can tell whose it is, and release it.
 */
export const make = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    ({ name, workspaceId }: Pick<OrderRow, "name" | "workspaceId">) =>
      Effect.map(
        sql`
          SELECT 1 FROM domains
          WHERE name = ${name} AND verified_at IS NOT NULL AND workspace_id IS DISTINCT FROM ${workspaceId}
        `,
        (rows) => rows.length > 0
      )
)
