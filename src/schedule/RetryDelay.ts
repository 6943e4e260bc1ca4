import { Clock, type Duration, Effect, Option, Pull, Schedule } from "effect"

/** A schedule of these delays, one after the other. */
export const ofDelays = (delays: ReadonlyArray<Duration.Duration>): Schedule.Schedule<unknown> =>
  delays
    .map((delay): Schedule.Schedule<unknown> => Schedule.duration(delay))
    .reduce((earlier, later) => Schedule.concat(earlier, later))

/**
 * The delay of a schedule after a number of failures, or none after the last. Earlier failures may be of other
 * processes.
 */
export const after = Effect.fnUntraced(
  function* (retries: Schedule.Schedule<unknown>, failures: number) {
    const step = yield* Schedule.toStep(retries)
    const now = yield* Clock.currentTimeMillis
    let delay = Option.none<Duration.Duration>()
    for (let failure = 0; failure < failures; failure++) {
      const [, wait] = yield* step(now, undefined)
      delay = Option.some(wait)
    }
    return delay
  },
  Pull.catchDone(() => Effect.succeedNone)
)
