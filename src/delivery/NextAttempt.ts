import { DateTime, Duration, Effect, Option } from "effect"
import * as Settings from "../Settings.ts"
import * as RetryDelay from "../schedule/RetryDelay.ts"
import * as Retries from "./Retries.ts"
import type { Outcome } from "./WebhookSender.ts"

/** Maximum accepted `Retry-After`. */
const longestRetryAfter = Duration.hours(24)

/** Decides the state after a failed attempt: dead, or due again after a delay. */
export const make = Effect.gen(function* () {
  const { retryDelays } = yield* Settings.webhooks
  const retries = Retries.schedule(retryDelays)
  return Effect.fnUntraced(function* (attemptOfBudget: number, outcome: Outcome) {
    const asked = yield* askedWait(outcome)
    const wait = yield* RetryDelay.after(retries, attemptOfBudget)
    const isLast = outcome.isFinal || Option.isNone(wait)
    return {
      asked,
      status: isLast ? "dead" : "pending",
      wait: isLast ? Duration.zero : Duration.max(wait.value, asked)
    }
  })
})

/** Parses `Retry-After` of a 429 or 503: seconds or a date (RFC 9110, section 10.2.3). Ignores anything else. */
const askedWait = Effect.fnUntraced(function* ({ retryAfter, statusCode }: Outcome) {
  if (retryAfter === null || (statusCode !== 429 && statusCode !== 503)) return Duration.zero
  const now = yield* DateTime.now
  const wait = /^\d+$/.test(retryAfter)
    ? Duration.seconds(Number(retryAfter))
    : Option.match(/^\w{3}, /.test(retryAfter) ? DateTime.make(retryAfter) : Option.none(), {
        onNone: () => Duration.zero,
        onSome: (date) => Duration.millis(Math.max(0, DateTime.toEpochMillis(date) - DateTime.toEpochMillis(now)))
      })
  return Duration.min(wait, longestRetryAfter)
})
