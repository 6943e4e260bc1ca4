import { type Duration, Schedule } from "effect"

/**
 * The delays between the attempts of a delivery, with 20 % jitter so that retries after an outage spread out. Repeating
 * is safe, because receivers deduplicate by the event id.
 */
export const schedule = (delays: ReadonlyArray<Duration.Duration>): Schedule.Schedule<unknown> =>
  delays
    .map((delay): Schedule.Schedule<unknown> => Schedule.duration(delay))
    .reduce((earlier, later) => Schedule.concat(earlier, later))
    .pipe(Schedule.jittered)
