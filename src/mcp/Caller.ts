import { Effect, Option } from "effect"
import { CurrentWorkspace } from "../http/requests/Authorization.ts"

/** The workspace that the door has let in. The library's types don't say that the context of a request reaches what it calls. */
export const workspace = Effect.flatMap(Effect.serviceOption(CurrentWorkspace), (found) =>
  Option.isSome(found) ? Effect.succeed(found.value) : Effect.die(new Error("MCP was called without a key"))
)
