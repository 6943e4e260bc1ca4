import { Clock, Effect } from "effect"
import * as Patience from "../database/Patience.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { notStored } from "./NotStored.ts"

/** A database or a store that hangs must not hold up the sender, which is told to come back. */
const millis = 8_000

/** Between two looks at what is under way. */
const lookMillis = 250

/** The same for work that has a fiber of its own. */
export const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(Patience.ofRequest(effect), {
    duration: millis,
    orElse: () => notStored("no answer within 8 seconds")
  })

/** Something a sender waits for. */
export interface Pending {
  /** Once it has been answered, nothing more can be said. */
  isOver: boolean
}

/**
 * One look every quarter of a second ends what is overdue, in the place of a timer for each:
 * `begin` enters something whose `late` is called when it is not over in time.
 */
export const make = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const underWay = new Map<Pending, { readonly since: number; readonly late: () => void }>()

  yield* BackgroundLoop.every(
    lookMillis,
    "A look at the messages under way failed",
    Effect.sync(() => {
      const now = clock.currentTimeMillisUnsafe()
      for (const [pending, { late, since }] of underWay) {
        if (pending.isOver) underWay.delete(pending)
        // They are in the order in which they began.
        else if (now - since < millis) break
        else {
          underWay.delete(pending)
          late()
        }
      }
    })
  )

  return {
    begin: (pending: Pending, late: () => void) => {
      underWay.set(pending, { since: clock.currentTimeMillisUnsafe(), late })
    },
    end: (pending: Pending) => {
      pending.isOver = true
      underWay.delete(pending)
    }
  }
})
