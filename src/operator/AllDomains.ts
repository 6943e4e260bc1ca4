import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { Domains } from "../domains/Domains.ts"
import type { Invalid } from "../model/ApiError.ts"
import { Domain, DomainId, type DomainName } from "../model/Domain.ts"
import type * as Page from "../model/Page.ts"
import { WorkspaceId, WorkspaceName } from "../model/Workspace.ts"

/** A domain with its workspace. */
export const ListedDomain = Schema.Struct({
  ...Domain.fields,
  workspace_id: Schema.NullOr(WorkspaceId).annotate({ description: "null for a demo inbox" }),
  workspace: Schema.NullOr(WorkspaceName),
  held_by_another: Schema.Boolean.annotate({
    description: "true if another workspace has verified the name. Changes of the operator apply to that one"
  })
}).annotate({ identifier: "ListedDomain" })
export type ListedDomain = typeof ListedDomain.Type

const Holding = Schema.Struct({
  id: DomainId,
  workspaceId: Schema.NullOr(WorkspaceId),
  workspace: Schema.NullOr(WorkspaceName),
  heldByAnother: Schema.Boolean
})

/** Lists domains for the operator. */
export class AllDomains extends Context.Service<
  AllDomains,
  {
    /** Those of all workspaces, newest first. `cursor` is the id of the last domain of the page before. */
    list(
      wanted: { readonly name?: DomainName | undefined; readonly search?: string | undefined },
      page: { readonly limit: number; readonly cursor?: string | undefined }
    ): Effect.Effect<Page.Page<ListedDomain>, Invalid | SqlError>
  }
>()("inlet/operator/AllDomains") {
  static readonly layer = Layer.effect(
    AllDomains,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const domains = yield* Domains

      const holdings = SqlSchema.findAll({
        Request: Schema.Array(DomainId),
        Result: Holding,
        execute: (ids) => sql`
          SELECT domains.id, workspace_id, workspaces.name AS workspace, EXISTS (
            SELECT 1 FROM domains holder
            WHERE holder.name = domains.name AND holder.verified_at IS NOT NULL AND holder.id <> domains.id
          ) AS held_by_another
          FROM domains LEFT JOIN workspaces ON workspaces.id = workspace_id WHERE domains.id = ANY(${ids}::uuid[])
        `
      })

      const list: AllDomains["Service"]["list"] = Effect.fn("AllDomains.list")(function* (wanted, page) {
        const { items, nextCursor } = yield* domains.list(wanted, page)
        const found = new Map(
          (yield* Bugs.die(holdings(items.map(({ id }) => id)))).map((holding) => [holding.id, holding])
        )
        return {
          items: items.flatMap((domain) => {
            const holding = found.get(domain.id)
            // It was removed meanwhile.
            if (holding === undefined) return []
            const { heldByAnother, workspace, workspaceId } = holding
            return [{ ...domain, workspace_id: workspaceId, workspace, held_by_another: heldByAnother }]
          }),
          nextCursor
        }
      })

      return AllDomains.of({ list })
    })
  )
}
