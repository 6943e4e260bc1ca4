import { Duration, Effect } from "effect"

/** The milliseconds of the quickest of three runs. A busy machine delays some of them, a slow service all. */
export const quickest = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.replicateEffect(Effect.timed(run), 3), (runs) =>
    Math.min(...runs.map(([time]) => Duration.toMillis(time)))
  )
