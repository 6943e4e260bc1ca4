import { Effect, FiberSet, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Tally } from "../cache/Tally.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { DueWork } from "../schedule/DueWork.ts"
import { Reader } from "./Reader.ts"
import * as UnreadMail from "./UnreadMail.ts"

/** Messages that are read at a time, and from how many on no more of a tenant are claimed. */
const mostUnderWay = 64
const mostOfTenant = 8

/** Time for other readings to end, so that a claim finds room for several messages. */
const gathering = "20 millis"

/**
 * Parses messages left by a crash or by full memory, while the process runs. A message that takes long, because a name
 * server or the mail scanner does not answer, delays no other.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const reader = yield* Reader
    const isAnyUnread = yield* (yield* DueWork).watch(UnreadMail.unreadOne(yield* SqlClient.SqlClient))
    const begin = yield* FiberSet.makeRuntime()
    const underWay = new Tally()
    const hasEnded = yield* Latch.make(false)

    const claim = Effect.gen(function* () {
      if (underWay.total >= mostUnderWay || !(yield* isAnyUnread)) return
      for (const { read, tenant } of yield* reader.claimLeftOver(underWay.ownersOf(mostOfTenant))) {
        underWay.add(tenant, 1)
        begin(read).addObserver(() => {
          underWay.add(tenant, -1)
          hasEnded.openUnsafe()
        })
      }
    })

    yield* BackgroundLoop.endless(
      "Looking for unread messages failed",
      Effect.gen(function* () {
        yield* hasEnded.close
        yield* claim
        // A tenant without a message under way may have new ones.
        yield* Effect.timeoutOption(hasEnded.await, "1 second")
        if (underWay.total > 0) yield* Effect.sleep(gathering)
      })
    )
  })
)
