import { Effect, Layer } from "effect"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { Reader } from "./Reader.ts"

/** Reads the messages that a crash or a full hand has left over, for as long as the process runs. */
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
