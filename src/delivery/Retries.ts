import { type Duration, Schedule } from "effect"
import * as RetryDelay from "../schedule/RetryDelay.ts"

/**
 * The delays between the attempts of a delivery, with 20 % jitter so that retries after an outage spread out. Repeating
 * is safe, because receivers deduplicate by the event id.
 */
export const schedule = (delays: ReadonlyArray<Duration.Duration>): Schedule.Schedule<unknown> =>
  RetryDelay.ofDelays(delays).pipe(Schedule.jittered)
