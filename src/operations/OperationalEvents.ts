import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import type { Invalid } from "../model/ApiError.ts"
import {
  type LedgerEntry,
  type OperationalDelivery,
  OperationalEvent,
  OperationalEventId,
  OperationalEventType
} from "../model/OperationalEvent.ts"
import * as Page from "../model/Page.ts"
import { WorkspaceId } from "../model/Workspace.ts"

const time = Schema.NullOr(Schema.DateTimeUtcFromDate)

const Row = Schema.Struct({
  payload: Schema.fromJsonString(OperationalEvent),
  id: OperationalEventId,
  /** Null if no webhook was set. */
  attempts: Schema.NullOr(Schema.Int),
  nextAttemptAt: time,
  deliveredAt: time,
  lastError: Schema.NullOr(Schema.String)
})

interface Listed {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly type?: OperationalEventType | undefined
}

/** Lists the ledger of operational events. */
export class OperationalEvents extends Context.Service<
  OperationalEvents,
  {
    /** Those of a workspace, newest first. `cursor` is the id of the last event of the page before. */
    list(workspaceId: WorkspaceId, page: Listed): Effect.Effect<Page.Page<LedgerEntry>, Invalid | SqlError>
    /** For the operator: those of every workspace and of the service itself. */
    listAll(page: Listed): Effect.Effect<Page.Page<LedgerEntry>, Invalid | SqlError>
  }
>()("inlet/operations/OperationalEvents") {
  static readonly layer = Layer.effect(
    OperationalEvents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const select = SqlSchema.findAll({
        Request: Schema.Struct({
          workspaceId: Schema.UndefinedOr(WorkspaceId),
          type: Schema.UndefinedOr(OperationalEventType),
          before: Schema.UndefinedOr(OperationalEventId),
          limit: Schema.Int
        }),
        Result: Row,
        execute: ({ before, limit, type, workspaceId }) => sql`
          SELECT id, payload, attempts, next_attempt_at, delivered_at, last_error
          FROM operational_events LEFT JOIN operational_deliveries ON event_id = id
          WHERE ${sql.and([
            sql`true`,
            ...(workspaceId === undefined ? [] : [sql`operational_events.workspace_id = ${workspaceId}`]),
            ...(type === undefined ? [] : [sql`type = ${type}`]),
            ...(before === undefined ? [] : [sql`id < ${before}`])
          ])}
          ORDER BY id DESC LIMIT ${limit}
        `
      })

      const page = Effect.fnUntraced(function* (workspaceId: WorkspaceId | undefined, { cursor, limit, type }: Listed) {
        const before = yield* Page.idIn(OperationalEventId)(cursor)
        const { items, nextCursor } = Page.of(yield* select({ workspaceId, type, before, limit: limit + 1 }), limit)
        return { items: items.map((row) => ({ event: row.payload, delivery: deliveryOf(row) })), nextCursor }
      }, Bugs.die)

      return OperationalEvents.of({
        list: Effect.fn("OperationalEvents.list")(page),
        listAll: Effect.fn("OperationalEvents.listAll")((listed) => page(undefined, listed))
      })
    })
  )
}

const deliveryOf = ({
  attempts,
  deliveredAt,
  lastError,
  nextAttemptAt
}: typeof Row.Type): OperationalDelivery | null =>
  attempts === null
    ? null
    : {
        status: deliveredAt !== null ? "delivered" : nextAttemptAt !== null ? "pending" : "dead",
        attempts,
        next_attempt_at: nextAttemptAt,
        delivered_at: deliveredAt,
        last_error: lastError
      }
