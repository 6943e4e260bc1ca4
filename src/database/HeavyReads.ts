import { Clock, Context, Duration, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Turns from "./Turns.ts"

/** A read that took longer was slowed down by the machine, so the pause after it is not longer than this. */
const longestRest = 250_000_000n

/**
 * Serializes reads of large rows, because decoding them blocks the whole process. They run one at a time, alternating
 * between the API's clients, each followed by a pause of its own duration, so that they use at most half of the time.
 * Reads without a client do not wait.
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
