import { type Duration, Schedule } from "effect"

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
