import { Clock, Context, Duration, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Turns from "./Turns.ts"

/** After a read that took longer than this, for which the machine and not its weight is to blame, the next waits no longer. */
const longestRest = 250_000_000n

/**
 * Reads of rows that weigh much, which all that is done in this process waits for while they are
 * decoded. There is one at a time, in turn for each client of the API, and after it none for as long
 * as it took, so that they never have more than half of the time. What no client asked for does not wait.
 */
export class HeavyReads extends Context.Service<
  HeavyReads,
  {
    within<A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R>
  }
>()("inlet/database/HeavyReads") {
  static readonly layer = Layer.sync(HeavyReads, () => make())
}

export const make = (): HeavyReads["Service"] => {
  const turns = Turns.make({ places: 1, mailShares: false })
  let restUntil = 0n

  const rested = Effect.flatMap(Clock.currentTimeNanos, (now) =>
    now < restUntil ? Effect.sleep(Duration.nanos(restUntil - now)) : Effect.void
  )
  const timed = <A, E, R>(read: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Clock.currentTimeNanos, (began) =>
      Effect.ensuring(
        read,
        Effect.map(Clock.currentTimeNanos, (ended) => {
          const took = ended - began
          restUntil = ended + (took < longestRest ? took : longestRest)
        })
      )
    )

  return {
    within: (read) =>
      Effect.flatMap(Turns.Asker, (asker) =>
        asker === undefined ? read : turns.within(Effect.andThen(rested, timed(read)))
      )
  }
}
