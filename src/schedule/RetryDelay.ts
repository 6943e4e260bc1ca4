import { Clock, type Duration, Effect, Option, Pull, Schedule } from "effect"

/** The wait that a schedule has after so many failures; none where they were its last. Other processes may have made the failures before. */
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
