import { Effect } from "effect"
import type { CurrentWorkspace } from "../http/requests/CurrentWorkspace.ts"
import { OpenRequests } from "../http/requests/OpenRequests.ts"

/** Runs a wait in one of the workspace's slots, and ends it when its key is revoked. */
export const make = Effect.map(
  OpenRequests,
  (open) =>
    <A, E, R>({ id, untilReplaced }: CurrentWorkspace["Service"], waiting: Effect.Effect<A, E, R>) =>
      Effect.scoped(Effect.andThen(open.take(id), Effect.raceFirst(waiting, untilReplaced)))
)
