import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "./Api.ts"
import * as Readiness from "./Readiness.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "system",
  Effect.fn(function* (handlers) {
    const ready = yield* Readiness.make

    return handlers.handleAll({
      health: () => Effect.succeed({ status: "ok" as const }),
      ready: () => Effect.as(ready, { status: "ok" as const })
    })
  })
)
