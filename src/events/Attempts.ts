import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { Invalid } from "../model/ApiError.ts"
import { AttemptId, type DeliveryAttempt } from "../model/Delivery.ts"
import type { DomainId } from "../model/Domain.ts"
import { EventId } from "../model/InboundEvent.ts"
import type { Page } from "../model/Page.ts"

const Row = Schema.Struct({
  id: AttemptId,
  eventId: EventId,
  attempt: Schema.Int,
  url: Schema.String,
  requestedAt: Schema.DateTimeUtcFromDate,
  durationMs: Schema.NullOr(Schema.Int),
  statusCode: Schema.NullOr(Schema.Int),
  ok: Schema.Boolean,
  error: Schema.NullOr(Schema.String),
  responseBody: Schema.NullOr(Schema.String)
})

/** Lists webhook requests. */
export class Attempts extends Context.Service<
  Attempts,
  {
    /** Newest first. `cursor` is the id of the last attempt of the previous page. */
    list(
      domainId: DomainId,
      page: {
        readonly limit: number
        readonly cursor?: string | undefined
        readonly eventId?: EventId | undefined
      }
    ): Effect.Effect<Page<DeliveryAttempt>, Invalid | SqlError>
  }
>()("inlet/events/Attempts") {
  static readonly layer = Layer.effect(
    Attempts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const select = SqlSchema.findAll({
        Request: Schema.Struct({
          domainId: Schema.String,
          eventId: Schema.UndefinedOr(EventId),
          before: Schema.UndefinedOr(AttemptId),
          limit: Schema.Int
        }),
        Result: Row,
        execute: ({ before, domainId, eventId, limit }) => sql`
          SELECT id, event_id, attempt, url, requested_at, duration_ms, status_code, ok, error, response_body
          FROM delivery_attempts
          WHERE ${sql.and([
            sql`domain_id = ${domainId}`,
            ...(eventId === undefined ? [] : [sql`event_id = ${eventId}`]),
            ...(before === undefined
              ? []
              : [sql`(requested_at, id) < (SELECT requested_at, id FROM delivery_attempts WHERE id = ${before})`])
          ])}
          ORDER BY requested_at DESC, id DESC
          LIMIT ${limit}
        `
      })

      const known = Effect.fnUntraced(function* (domainId: DomainId, cursor: string) {
        const rows = Schema.is(AttemptId)(cursor)
          ? yield* sql<{ readonly id: AttemptId }>`
              SELECT id FROM delivery_attempts WHERE domain_id = ${domainId} AND id = ${cursor}
            `
          : []
        return rows[0]?.id ?? (yield* new Invalid({ message: "cursor: Expected the next_cursor of an earlier page" }))
      })

      const list: Attempts["Service"]["list"] = Effect.fn("Attempts.list")(function* (
        domainId,
        { cursor, eventId, limit }
      ) {
        const before = cursor === undefined ? undefined : yield* known(domainId, cursor)
        const rows = yield* select({ domainId, eventId, before, limit: limit + 1 })
        return {
          items: rows.slice(0, limit).map(({ eventId, ...row }) => ({ ...row, event_id: eventId })),
          nextCursor: rows.length > limit ? (rows[limit - 1]?.id ?? null) : null
        }
      }, Bugs.die)

      return Attempts.of({ list })
    })
  )
}
