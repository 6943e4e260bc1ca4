import { Clock, type Duration, Effect, Option, Pull, Schedule } from "effect"

/**
 * The waits between the attempts of a delivery, each spread by a fifth so that
 * the deliveries of one outage do not all come back in the same second.
 * Safe to repeat: receivers deduplicate on the event id, which stays the same.
 */
export const schedule = (delays: ReadonlyArray<Duration.Duration>): Schedule.Schedule<unknown> =>
  delays
    .map((delay): Schedule.Schedule<unknown> => Schedule.duration(delay))
    .reduce((earlier, later) => Schedule.concat(earlier, later))
    .pipe(Schedule.jittered)

/** The wait after the nth failure of a budget; none when that was the last. Other processes may have made the failures before. */
export const delayAfter = Effect.fnUntraced(
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
