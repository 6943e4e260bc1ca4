import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import type { Invalid } from "../model/ApiError.ts"
import * as Page from "../model/Page.ts"
import { RefusalId, RefusalReason } from "../model/Refusal.ts"

/** Refusals that belong to no domain, as the operator sees them. */
export const UnknownRefusal = Schema.Struct({
  id: RefusalId,
  reason: RefusalReason,
  domain: Schema.NullOr(Schema.String).annotate({
    description: "the name that was asked for. Null before RCPT, and in an entry that counts further names"
  }),
  client: Schema.NullOr(Schema.String).annotate({
    description: "the client's IPv4 address or IPv6 /64. Null in an entry that counts further clients"
  }),
  count: Schema.Int.annotate({ description: "refusals within the hour" }),
  first_at: Schema.DateTimeUtcFromString,
  last_at: Schema.DateTimeUtcFromString,
  code: Schema.NullOr(Schema.Int).annotate({ description: "code of the last reply, or null without one" }),
  reply: Schema.String.annotate({ description: "the last reply, or the error of TLS" }),
  helo: Schema.String.annotate({ description: "the name that the last client gave" })
}).annotate({ identifier: "UnknownRefusal" })
export type UnknownRefusal = typeof UnknownRefusal.Type

const Row = Schema.Struct({
  id: RefusalId,
  reason: RefusalReason,
  name: Schema.String,
  client: Schema.String,
  count: Schema.FiniteFromString,
  firstAt: Schema.DateTimeUtcFromDate,
  lastAt: Schema.DateTimeUtcFromDate,
  code: Schema.NullOr(Schema.Int),
  reply: Schema.String,
  helo: Schema.String
})

/** Lists refusals that belong to no domain: of unknown names, and failures before RCPT. */
export class UnknownRefusals extends Context.Service<
  UnknownRefusals,
  {
    /** Newest first. `cursor` is the last id of the previous page. */
    list(page: {
      readonly limit: number
      readonly domain?: string | undefined
      readonly cursor?: string | undefined
    }): Effect.Effect<Page.Page<UnknownRefusal>, Invalid | SqlError>
  }
>()("inlet/refusals/UnknownRefusals") {
  static readonly layer = Layer.effect(
    UnknownRefusals,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const select = SqlSchema.findAll({
        Request: Schema.Struct({
          domain: Schema.UndefinedOr(Schema.String),
          before: Schema.UndefinedOr(RefusalId),
          limit: Schema.Int
        }),
        Result: Row,
        execute: ({ before, domain, limit }) => sql`
          SELECT id, reason, name, client, count::text AS count, first_at, last_at, code, reply, helo
          FROM unknown_refusals
          WHERE ${sql.and([
            sql`true`,
            ...(domain === undefined ? [] : [sql`name = ${domain}`]),
            ...(before === undefined ? [] : [sql`id < ${before}`])
          ])}
          ORDER BY id DESC LIMIT ${limit}
        `
      })

      const list: UnknownRefusals["Service"]["list"] = Effect.fn("UnknownRefusals.list")(function* ({
        cursor,
        domain,
        limit
      }) {
        const before = yield* Page.idIn(RefusalId)(cursor)
        const { items, nextCursor } = Page.of(yield* select({ domain, before, limit: limit + 1 }), limit)
        return {
          items: items.map(({ client, firstAt, lastAt, name, ...row }) => ({
            ...row,
            domain: name === "" ? null : name,
            client: client === "" ? null : client,
            first_at: firstAt,
            last_at: lastAt
          })),
          nextCursor
        }
      }, Bugs.die)

      return UnknownRefusals.of({ list })
    })
  )
}
