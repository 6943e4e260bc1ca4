import { type Duration, Effect, type LogLevel, Schedule } from "effect"

/** The log line of a round that failed; at level `Error` where none is named. */
export interface Failure {
  readonly says: string
  readonly level?: LogLevel.Severity
}

/** Runs `work`; a failure is logged, and ends nothing else. */
export const survive = <A, E, R>(failure: string | Failure, work: Effect.Effect<A, E, R>) => {
  const { level = "Error", says }: Failure = typeof failure === "string" ? { says: failure } : failure
  return Effect.catchCause(work, (cause) => Effect.logWithLevel(level)(says, cause))
}

/** Runs `round` at once and again after each interval, for as long as the scope is open. A round that fails is logged. */
export const every = <A, E, R>(interval: Duration.Input, failure: string | Failure, round: Effect.Effect<A, E, R>) =>
  Effect.forkScoped(Effect.repeat(survive(failure, round), Schedule.spaced(interval)))

/** A round that failed at once must not fail a thousand times a second. */
const pauseAfterFailure = "1 second"

/** Runs `round`, which waits by itself, again and again for as long as the scope is open. A round that fails is logged. */
export const endless = <A, E, R>(failure: string | Failure, round: Effect.Effect<A, E, R>) =>
  Effect.forkScoped(
    Effect.forever(
      survive(
        failure,
        Effect.tapCause(round, () => Effect.sleep(pauseAfterFailure))
      )
    )
  )
