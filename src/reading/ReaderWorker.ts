import { Effect, Layer } from "effect"
import { Reader } from "./Reader.ts"

/** Reads the messages that a crash or a full hand has left over, for as long as the process runs. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const reader = yield* Reader
    const round = Effect.gen(function* () {
      const read = yield* reader.readLeftOver
      if (read === 0) yield* Effect.sleep("1 second")
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(Effect.logError("Looking for unread messages failed", cause), Effect.sleep("1 second"))
      )
    )
    yield* Effect.forkScoped(Effect.forever(round))
  })
)
