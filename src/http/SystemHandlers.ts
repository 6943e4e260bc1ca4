import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { Unavailable } from "../model/ApiError.ts"
import { Api } from "./Api.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "system",
  Effect.fn(function* (handlers) {
    const sql = yield* SqlClient.SqlClient

    return handlers.handleAll({
      health: () => Effect.succeed({ status: "ok" as const }),
      ready: () =>
        sql`SELECT 1`.pipe(
          Effect.timeout("3 seconds"),
          Effect.as({ status: "ok" as const }),
          Effect.mapError(() => new Unavailable({ message: "The database does not answer; try again in a moment" }))
        )
    })
  })
)
