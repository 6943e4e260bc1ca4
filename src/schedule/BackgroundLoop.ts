import { type Duration, Effect, Latch, type LogLevel, Schedule } from "effect"

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

/** Runs `round` at once and again after each interval, while the scope is open. Logs failed rounds. */
export const every = <A, E, R>(interval: Duration.Input, failure: string | Failure, round: Effect.Effect<A, E, R>) =>
  Effect.forkScoped(Effect.repeat(survive(failure, round), Schedule.spaced(interval)))

/** The pause after a failed round, so that failures do not repeat rapidly. */
const pauseAfterFailure = "1 second"

/** Runs `round`, which waits by itself, repeatedly while the scope is open. Logs failed rounds. */
export const endless = <A, E, R>(failure: string | Failure, round: Effect.Effect<A, E, R>) =>
  Effect.forkScoped(
    Effect.forever(
      survive(
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
