import { Cause, type Duration, Effect, Latch, type LogLevel, Schedule } from "effect"
import * as ErrorOrigin from "../ErrorOrigin.ts"
import * as Elapsed from "./Elapsed.ts"

/** The log line of a failed round, at level `Error` by default. */
export interface Failure {
  readonly says: string
  readonly level?: LogLevel.Severity
}

/** Runs `work` and logs its failure, without failing itself. */
export const survive = <A, E, R>(failure: string | Failure, work: Effect.Effect<A, E, R>) => {
  const { level = "Error", says }: Failure = typeof failure === "string" ? { says: failure } : failure
  return Effect.catchCause(work, (cause) => Effect.logWithLevel(level)(says, cause))
}

/** The pause between log lines about failures in a row, so that an outage does not fill the log. */
const pauseBetweenLines = 60_000

/**
 * Runs `round` and logs its failure, without failing itself. Of failures in a row it logs the first, then one a minute
 * with their number, and their end.
 */
const surviveAll = <A, E, R>(failure: string | Failure, round: Effect.Effect<A, E, R>) => {
  const { level = "Error", says }: Failure = typeof failure === "string" ? { says: failure } : failure
  const log = Effect.logWithLevel(level)
  const ended = Effect.logWithLevel(level === "Debug" ? "Debug" : "Info")
  let failures = 0
  let toldAt = 0
  return Effect.matchCauseEffect(round, {
    onFailure: (cause) =>
      Effect.flatMap(Elapsed.millis, (now) => {
        failures++
        if (failures > 1 && now - toldAt < pauseBetweenLines) return Effect.logDebug(says, cause)
        toldAt = now
        const reason = `: ${ErrorOrigin.messageOf(Cause.squash(cause))}`
        return log(`${says}${failures === 1 ? "" : ` (${failures} times in a row)`}${reason}`, cause)
      }),
    onSuccess: () => {
      const before = failures
      failures = 0
      return before > 1 ? ended(`It works again after ${before} failures: ${says}`) : Effect.void
    }
  })
}

/** Runs `round` at once and again after each interval, while the scope is open. Logs failed rounds. */
export const every = <A, E, R>(interval: Duration.Input, failure: string | Failure, round: Effect.Effect<A, E, R>) =>
  Effect.forkScoped(Effect.repeat(surviveAll(failure, round), Schedule.spaced(interval)))

/** The pause after a failed round, so that failures do not repeat rapidly. */
const pauseAfterFailure = "1 second"

/** Runs `round`, which waits by itself, repeatedly while the scope is open. Logs failed rounds. */
export const endless = <A, E, R>(failure: string | Failure, round: Effect.Effect<A, E, R>) =>
  Effect.forkScoped(
    Effect.forever(
      surviveAll(
        failure,
        Effect.tapCause(round, () => Effect.sleep(pauseAfterFailure))
      )
    )
  )

/**
 * Runs `round` after each interval while there is something to look after: from a call of the returned function until
 * a round returns false. An idle process has no timer then.
 */
export const whileBusy = Effect.fnUntraced(function* (
  interval: Duration.Input,
  failure: string | Failure,
  round: () => boolean
) {
  const isBusy = yield* Latch.make(false)
  yield* endless(
    failure,
    Effect.gen(function* () {
      yield* isBusy.await
      yield* Effect.sleep(interval)
      if (!round()) isBusy.closeUnsafe()
    })
  )
  return () => void isBusy.openUnsafe()
})
