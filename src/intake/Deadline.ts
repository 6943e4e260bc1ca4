import { Clock, Effect, Exit, FiberSet } from "effect"
import * as Patience from "../database/Patience.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import { NotStored, notStored } from "./NotStored.ts"

/** Time after which a sender gets 451, because the database or raw store hangs. */
const millis = 8_000

/** Interval between checks for overdue work. */
const lookMillis = 250

const tooLate = "no answer within 8 seconds"

/** Fails after 8 seconds, by default, and interrupts the work. Uses one timer, so use it only for rare cases. */
export const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>, duration = millis) =>
  Effect.timeoutOrElse(Patience.ofRequest(effect), { duration, orElse: () => notStored(tooLate) })

/** Work in progress for a waiting sender. */
export interface Pending {
  /** True once the sender has its answer. */
  isOver: boolean
  /** The time until then in milliseconds. */
  readonly left: () => number
}

/** The result of work for a sender, and what its fiber goes on with afterwards. */
export interface Answered<A> {
  readonly answer: A
  readonly after: Effect.Effect<void>
}

interface Waiting {
  readonly since: number
  readonly late: () => void
}

/**
 * Makes a function that runs work for a sender and fails after 8 seconds. The work continues in the background, so that
 * Inlet recognizes the sender's retry by the rows it still writes. What follows the answer runs in the fiber of the work,
 * because a fiber costs 10 µs. A check every 250 ms replaces a timer per message,
 * which costs 14 µs.
 */
export const make = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  const underWay = new Map<Pending, Waiting>()

  const look = yield* BackgroundLoop.whileBusy(lookMillis, "A look at the messages under way failed", () => {
    const now = Elapsed.millisOf(clock)
    for (const [pending, { late, since }] of underWay) {
      // Ordered by their start.
      if (now - since < millis) break
      underWay.delete(pending)
      pending.isOver = true
      late()
    }
    return underWay.size > 0
  })

  /** Calls `keep` at the start, and the function that it returns when the work has stored the message or given up. */
  return <A, E>(work: (pending: Pending) => Effect.Effect<Answered<A>, E>, keep?: () => () => void) =>
    Effect.callback<A, E | NotStored>((resume) => {
      const since = Elapsed.millisOf(clock)
      const pending: Pending = { isOver: false, left: () => since + millis - Elapsed.millisOf(clock) }
      const ended = keep?.()
      const late = () => resume(Effect.fail(new NotStored({ cause: tooLate })))
      underWay.set(pending, { since, late })
      look()
      const working = Effect.flatMap(
        Effect.suspend(() => work(pending)),
        ({ after, answer }) => {
          underWay.delete(pending)
          ended?.()
          resume(Effect.succeed(answer))
          return after
        }
      )
      fork(working).addObserver((exit) => {
        if (Exit.isSuccess(exit)) return
        underWay.delete(pending)
        ended?.()
        resume(Effect.failCause(exit.cause))
      })
    })
})
