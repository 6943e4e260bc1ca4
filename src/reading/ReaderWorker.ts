import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { DueWork } from "../schedule/DueWork.ts"
import { Reader } from "./Reader.ts"
import * as UnreadMail from "./UnreadMail.ts"

/** Parses messages left by a crash or by full memory, while the process runs. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const reader = yield* Reader
    const isAnyUnread = yield* (yield* DueWork).watch(UnreadMail.unreadOne(yield* SqlClient.SqlClient))
    yield* BackgroundLoop.endless(
      "Looking for unread messages failed",
      Effect.gen(function* () {
        const read = (yield* isAnyUnread) ? yield* reader.readLeftOver : 0
        if (read === 0) yield* Effect.sleep("1 second")
      })
    )
  })
)
