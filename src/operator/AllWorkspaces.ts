import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { Domains } from "../domains/Domains.ts"
import * as MailToday from "../domains/MailToday.ts"
import { Conflict, type Invalid, NotFound, Unavailable } from "../model/ApiError.ts"
import { DomainId } from "../model/Domain.ts"
import * as Page from "../model/Page.ts"
import { WorkspaceId, WorkspaceName } from "../model/Workspace.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import { Workspaces } from "../workspaces/Workspaces.ts"

export const ListedWorkspace = Schema.Struct({
  workspace_id: WorkspaceId,
  name: WorkspaceName,
  created_at: Schema.DateTimeUtcFromString,
  domains: Schema.Int,
  emails_today: Schema.Int
}).annotate({ identifier: "ListedWorkspace" })
export type ListedWorkspace = typeof ListedWorkspace.Type

/** The answer to a removal that needs another one. */
export const partOfDomains = "A part of the domains of this workspace is removed"

/** Domains that are found at a time. */
const batch = 100

/** How long a request removes domains, in milliseconds. Tests shorten it. */
export const RemovalMillis = Context.Reference("inlet/operator/AllWorkspaces/RemovalMillis", {
  defaultValue: () => 10_000
})

const Row = Schema.Struct({
  id: WorkspaceId,
  name: WorkspaceName,
  createdAt: Schema.DateTimeUtcFromDate,
  domains: Schema.Int,
  emailsToday: Schema.Int
})

/** Lists and removes workspaces for the operator. */
export class AllWorkspaces extends Context.Service<
  AllWorkspaces,
  {
    /**
     * Newest first. `search` is an id or a part of a name, in any case. `cursor` is the id of the last workspace of the
     * page before.
     */
    list(page: {
      readonly limit: number
      readonly search?: string | undefined
      readonly cursor?: string | undefined
    }): Effect.Effect<Page.Page<ListedWorkspace>, Invalid | SqlError>
    /**
     * Removes a workspace with its domains. Their mail is deleted in the background. Fails with Conflict while the
     * workspace has an open order, one that can still be paid, or is owed money, and with Unavailable if it has more
     * domains than can be removed at once.
     */
    remove(id: WorkspaceId): Effect.Effect<void, NotFound | Conflict | Unavailable | SqlError>
  }
>()("inlet/operator/AllWorkspaces") {
  static readonly layer = Layer.effect(
    AllWorkspaces,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const domains = yield* Domains
      const workspaces = yield* Workspaces
      const removalMillis = yield* RemovalMillis

      const select = SqlSchema.findAll({
        Request: Schema.Struct({
          limit: Schema.Int,
          search: Schema.UndefinedOr(Schema.String),
          before: Schema.UndefinedOr(WorkspaceId)
        }),
        Result: Row,
        execute: ({ before, limit, search }) => sql`
          SELECT id, name, created_at, ${MailToday.of(sql)} AS emails_today,
            (SELECT count(*)::int FROM domains WHERE workspace_id = workspaces.id) AS domains
          FROM workspaces
          LEFT JOIN daily_intake ON daily_intake.workspace_id = workspaces.id AND daily_intake.day = (now() AT TIME ZONE 'UTC')::date
          WHERE ${sql.and([
            sql`true`,
            ...(search === undefined
              ? []
              : [sql`(strpos(lower(name), lower(${search})) > 0 OR id::text = lower(${search}))`]),
            ...(before === undefined ? [] : [sql`id < ${before}`])
          ])}
          ORDER BY id DESC LIMIT ${limit}
        `
      })

      const list: AllWorkspaces["Service"]["list"] = Effect.fn("AllWorkspaces.list")(function* ({
        cursor,
        limit,
        search
      }) {
        const before = yield* Page.idIn(WorkspaceId)(cursor)
        const { items, nextCursor } = Page.of(yield* Bugs.die(select({ limit: limit + 1, search, before })), limit)
        return {
          items: items.map(({ createdAt, emailsToday, id, ...row }) => ({
            ...row,
            workspace_id: id,
            created_at: createdAt,
            emails_today: emailsToday
          })),
          nextCursor
        }
      })

      const requireNoOrder = Effect.fnUntraced(function* (id: WorkspaceId) {
        const open = yield* sql`
          SELECT 1 FROM orders WHERE workspace_id = ${id}
            AND (
              status IN ('pending_payment', 'paid', 'registering', 'provisioning') OR refund_due
              -- A bank debit can still pay it.
              OR (status = 'expired' AND created_at > now() - interval '14 days')
            )
          LIMIT 1
        `
        if (open.length > 0) {
          return yield* new Conflict({
            message:
              "This workspace has an open order, one that expired in the last 14 days and can still be paid, or is owed a refund. Remove it later"
          })
        }
      })

      const someDomains = SqlSchema.findAll({
        Request: WorkspaceId,
        Result: Schema.Struct({ id: DomainId }),
        execute: (id) => sql`SELECT id FROM domains WHERE workspace_id = ${id} LIMIT ${batch}`
      })

      /** A workspace may have more domains than can be removed while a client waits. */
      const removeDomains = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
        const began = yield* Elapsed.millis
        for (;;) {
          const some = yield* Bugs.die(someDomains(workspaceId))
          if (some.length === 0) return
          for (const { id } of some) {
            yield* Effect.catchTag(domains.remove({ workspaceId, id }), "NotFound", () => Effect.void)
          }
          if ((yield* Elapsed.millis) - began > removalMillis) {
            return yield* new Unavailable({
              message: `${partOfDomains}. Repeat this until it succeeds`
            })
          }
        }
      })

      const remove: AllWorkspaces["Service"]["remove"] = Effect.fn("AllWorkspaces.remove")(function* (id) {
        yield* requireNoOrder(id)
        yield* removeDomains(id)
        const removed = yield* sql.withTransaction(
          Effect.gen(function* () {
            // No order can be placed from here on.
            yield* sql`SELECT 1 FROM workspaces WHERE id = ${id} FOR UPDATE`
            yield* requireNoOrder(id)
            return yield* sql`DELETE FROM workspaces WHERE id = ${id} RETURNING id`
          })
        )
        if (removed.length === 0) {
          return yield* new NotFound({ message: "No workspace has this id. GET /admin/workspaces lists them" })
        }
        yield* workspaces.replacements().tell(id)
      })

      return AllWorkspaces.of({ list, remove })
    })
  )
}
