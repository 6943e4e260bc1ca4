import { Clock, Effect, FiberSet } from "effect"
import * as Patience from "../database/Patience.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { NotStored, notStored } from "./NotStored.ts"

/** A database or a store that hangs must not hold up the sender, which is told to come back. */
const millis = 8_000

/** Between two looks at what is under way. */
const lookMillis = 250

const tooLate = "no answer within 8 seconds"

/** Fails after 8 seconds and interrupts the work. Costs a timer: for work that few messages need. */
export const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(Patience.ofRequest(effect), { duration: millis, orElse: () => notStored(tooLate) })

/** Work that a sender waits for. */
export interface Pending {
  /** Whether the sender has its answer. */
  isOver: boolean
}

interface Waiting {
  readonly since: number
  readonly late: () => void
}

/**
 * Makes a function that runs work for a sender, and fails after 8 seconds. The work goes on in the background: the rows
 * it still writes make the message known when the sender retries. One look every 250 ms ends what is overdue, because a
 * timer for each message costs 14 µs.
 */
export const make = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  const underWay = new Map<Pending, Waiting>()

  yield* BackgroundLoop.every(
    lookMillis,
    "A look at the messages under way failed",
    Effect.sync(() => {
      const now = clock.currentTimeMillisUnsafe()
      for (const [pending, { late, since }] of underWay) {
        // They are in the order in which they began.
        if (now - since < millis) break
        underWay.delete(pending)
        pending.isOver = true
        late()
      }
    })
  )

  return <A, E>(work: (pending: Pending) => Effect.Effect<A, E>) =>
    Effect.callback<A, E | NotStored>((resume) => {
      const pending: Pending = { isOver: false }
      const late = () => resume(Effect.fail(new NotStored({ cause: tooLate })))
      underWay.set(pending, { since: clock.currentTimeMillisUnsafe(), late })
      fork(work(pending)).addObserver((exit) => {
        underWay.delete(pending)
        resume(exit)
      })
    })
})
