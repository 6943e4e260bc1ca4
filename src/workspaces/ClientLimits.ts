import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { TooManyRequests } from "../model/ApiError.ts"
import * as Settings from "../Settings.ts"

/** Actions that need no key, and have a limit instead. */
export type Action = "workspace" | "demo inbox"

/** How often one client may make something in a UTC day, counted where every process counts. */
export class ClientLimits extends Context.Service<
  ClientLimits,
  {
    /** Runs the effect as one transaction with its count: a failure does not count. */
    within<A, E, R>(
      action: Action,
      client: string,
      effect: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | TooManyRequests, R>
  }
>()("inlet/workspaces/ClientLimits") {
  static readonly layer = Layer.effect(
    ClientLimits,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { workspacesPerDay: most } = yield* Settings.clients

      const today = sql.literal("(now() AT TIME ZONE 'UTC')::date")

      /** Of two requests at once the second waits for the first, and counts on from there. */
      const reserve = (action: Action, client: string) => sql`
        INSERT INTO client_limits AS counted (action, client, day, count) VALUES (${action}, ${client}, ${today}, 1)
        ON CONFLICT (action, client, day) DO UPDATE SET count = counted.count + 1
        WHERE counted.count < ${most}
        RETURNING count
      `

      const untilMidnight = SqlSchema.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ seconds: Schema.Int }),
        execute: () => sql`
          SELECT ceil(extract(epoch FROM ${today} + 1 - (now() AT TIME ZONE 'UTC')))::integer AS seconds
        `
      })

      const within: ClientLimits["Service"]["within"] = (action, client, effect) =>
        most === 0
          ? effect
          : sql
              .withTransaction(
                Effect.gen(function* () {
                  const counted = yield* Effect.orDie(reserve(action, client))
                  if (counted.length > 0) return yield* effect
                  const { seconds } = yield* Effect.orDie(untilMidnight())
                  return yield* new TooManyRequests({
                    message: `${most} times per address and day: the next ${action} can be made after midnight UTC`,
                    retryAfter: seconds
                  })
                })
              )
              .pipe(Effect.catchTag("SqlError", Effect.die))

      return ClientLimits.of({ within })
    })
  )
}
