import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { TooManyRequests } from "../model/ApiError.ts"
import * as Settings from "../Settings.ts"
import * as DailyCounts from "./DailyCounts.ts"

/** Actions without a key, which are limited per client. */
export type Action = "workspace" | "demo inbox"

/** Limits how many things a client creates per UTC day, counted in the database. */
export class ClientLimits extends Context.Service<
  ClientLimits,
  {
    /** Runs the effect in one transaction with its count, so that a failure does not count. */
    within<A, E, R>(
      action: Action,
      client: string,
      effect: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | TooManyRequests | SqlError, R>
  }
>()("inlet/workspaces/ClientLimits") {
  static readonly layer = Layer.effect(
    ClientLimits,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { workspacesPerDay: most } = yield* Settings.clients

      const counts = DailyCounts.make(sql)

      const within: ClientLimits["Service"]["within"] = (action, client, effect) =>
        most === 0
          ? effect
          : sql.withTransaction(
              Effect.gen(function* () {
                if (yield* counts.reserve(action, client, most)) return yield* effect
                return yield* new TooManyRequests({
                  message: `Your address has reached its limit of ${most} a day. It can create the next ${action} after midnight UTC`,
                  retryAfter: yield* counts.untilMidnight
                })
              })
            )

      return ClientLimits.of({ within })
    })
  )
}
