import { Effect, Layer } from "effect"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { Reader } from "./Reader.ts"

/** Parses messages left by a crash or by full memory, while the process runs. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const reader = yield* Reader
    yield* BackgroundLoop.endless(
      "Looking for unread messages failed",
      Effect.gen(function* () {
        const read = yield* reader.readLeftOver
        if (read === 0) yield* Effect.sleep("1 second")
      })
    )
  })
)
