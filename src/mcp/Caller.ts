import { Effect, Option } from "effect"
import { CurrentWorkspace } from "../http/requests/Authorization.ts"

/** The authenticated workspace. The library's types do not show that a request's context reaches its handlers. */
export const workspace = Effect.flatMap(Effect.serviceOption(CurrentWorkspace), (found) =>
  Option.isSome(found) ? Effect.succeed(found.value) : Effect.die(new Error("MCP was called without a key"))
)
