import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Readiness from "../../health/Readiness.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { SystemApi } from "./SystemApi.ts"

export const layer = HttpApiBuilder.group(
  GroupApi.of(SystemApi),
  "system",
  Effect.fn(function* (handlers) {
    const ready = yield* Readiness.make("process")

    return handlers.handleAll({
      health: () => Effect.succeed({ status: "ok" as const }),
      ready: () => Effect.as(ready, { status: "ok" as const })
    })
  })
)
