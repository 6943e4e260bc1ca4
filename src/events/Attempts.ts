import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import type { Invalid } from "../model/ApiError.ts"
import { AttemptId, type DeliveryAttempt } from "../model/Delivery.ts"
import type { DomainId } from "../model/Domain.ts"
import { EventId } from "../model/InboundEvent.ts"
import * as Page from "../model/Page.ts"

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
  responseBody: Schema.NullOr(Schema.String),
  nextAttemptAt: Schema.NullOr(Schema.DateTimeUtcFromDate)
})

/** Maximum attempts that a request searches for filters without an index. */
export const mostSearched = 5_000

/** The attempts that a list goes through, by index. */
interface Range {
  readonly domainId: DomainId
  readonly eventId: EventId | undefined
  readonly before: AttemptId | undefined
  readonly since: DateTime.Utc | undefined
}

interface Answered {
  readonly ok: boolean | undefined
  readonly statusCode: number | undefined
}

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
        readonly ok?: boolean | undefined
        readonly statusCode?: number | undefined
        readonly since?: DateTime.Utc | undefined
      }
    ): Effect.Effect<Page.Page<DeliveryAttempt>, Invalid | SqlError>
  }
>()("inlet/events/Attempts") {
  static readonly layer = Layer.effect(
    Attempts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const conditions = ({ before, domainId, eventId, since }: Range) =>
        sql.and([
          sql`domain_id = ${domainId}`,
          ...(eventId === undefined ? [] : [sql`event_id = ${eventId}`]),
          ...(since === undefined ? [] : [sql`requested_at >= ${DateTime.toDateUtc(since)}`]),
          ...(before === undefined
            ? []
            : [sql`(requested_at, id) < (SELECT requested_at, id FROM delivery_attempts WHERE id = ${before})`])
        ])

      const select = (range: Range, { ok, statusCode }: Answered, limit: number) => {
        const wanted = [
          ...(ok === undefined ? [] : [sql`ok = ${ok}`]),
          ...(statusCode === undefined ? [] : [sql`status_code = ${statusCode}`])
        ]
        const searched =
          wanted.length === 0
            ? sql`delivery_attempts WHERE ${conditions(range)}`
            : sql`(
                SELECT * FROM delivery_attempts WHERE ${conditions(range)}
                ORDER BY requested_at DESC, id DESC LIMIT ${mostSearched}
              ) AS delivery_attempts WHERE ${sql.and(wanted)}`
        return Effect.flatMap(
          sql`
            SELECT id, event_id, attempt, url, requested_at, duration_ms, status_code, ok, error, response_body, (
              SELECT due_at FROM deliveries
              WHERE deliveries.event_id = delivery_attempts.event_id AND deliveries.attempts = delivery_attempts.attempt
                AND deliveries.status = ${"pending"} AND deliveries.leased_until IS NULL
            ) AS next_attempt_at
            FROM ${searched}
            ORDER BY requested_at DESC, id DESC
            LIMIT ${limit}
          `,
          Schema.decodeUnknownEffect(Schema.Array(Row))
        )
      }

      /** The last attempt that a search has reached, if there are more. None on its page comes after it. */
      const reached = Effect.fnUntraced(function* (range: Range, page: ReadonlyArray<typeof Row.Type>) {
        const [end] = yield* sql<{ readonly id: AttemptId; readonly requestedAt: Date }>`
          SELECT id, requested_at FROM delivery_attempts WHERE ${conditions(range)}
          ORDER BY requested_at DESC, id DESC OFFSET ${mostSearched - 1} LIMIT 1
        `
        const last = page.at(-1)
        if (end === undefined || last === undefined) return end?.id ?? null
        // Attempts that were stored since the search move the end toward newer ones.
        return DateTime.toEpochMillis(last.requestedAt) <= end.requestedAt.getTime() ? last.id : end.id
      })

      const known = Effect.fnUntraced(function* (domainId: DomainId, cursor: string) {
        const rows = Schema.is(AttemptId)(cursor)
          ? yield* sql<{ readonly id: AttemptId }>`
              SELECT id FROM delivery_attempts WHERE domain_id = ${domainId} AND id = ${cursor}
            `
          : []
        return rows[0]?.id ?? (yield* Page.noSuchCursor)
      })

      const list: Attempts["Service"]["list"] = Effect.fn("Attempts.list")(function* (
        domainId,
        { cursor, eventId, limit, ok, since, statusCode }
      ) {
        const before = cursor === undefined ? undefined : yield* known(domainId, cursor)
        const range = { domainId, eventId, before, since }
        const rows = yield* select(range, { ok, statusCode }, limit + 1)
        const isSearch = ok !== undefined || statusCode !== undefined
        const { items, nextCursor } = Page.of(rows, limit)
        return {
          items: items.map(({ eventId, ...row }) => ({ ...row, event_id: eventId })),
          nextCursor: nextCursor ?? (isSearch ? yield* reached(range, items) : null)
        }
      }, Bugs.die)

      return Attempts.of({ list })
    })
  )
}
