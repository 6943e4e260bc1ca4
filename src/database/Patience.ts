import { Clock, Context, Duration, Effect, Exit, Fiber } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as Elapsed from "../schedule/Elapsed.ts"

/** How long an effect waits for the database. */
interface Allowance {
  /** Timeout of one statement, including the wait for a connection. */
  readonly statementMillis: number
  /** What all slow statements of one request may take together. They use it up. */
  readonly budget?: { millisLeft: number }
}

/** Background work is retried anyway, so it may wait longer than a connected client. */
const Patience = Context.Reference<Allowance>("inlet/database/Patience", {
  defaultValue: () => ({ statementMillis: 10_000 })
})

/** A statement below this duration is not slow. Streams query without a limit. */
const slowMillis = 1_000

/**
 * Runs a query on behalf of a waiting client. Cancels it on the server when the client times out. If the server hangs,
 * the driver closes the connection 5 s later. Both together stay below the 10 s in which Inlet answers.
 */
export const ofRequest = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() =>
    Effect.provideService(effect, Patience, { statementMillis: 3_000, budget: { millisLeft: 5_000 } })
  )

/** Runs long operations such as removals and migrations. */
export const forMuch = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Patience, { statementMillis: Duration.toMillis("10 minutes") })

/**
 * Fails on timeout. It wraps every statement of mail, so it uses a platform timer, because a race of two fibers costs
 * five times as much.
 */
export const within = <A, E, R>(effect: Effect.Effect<A, E, R>, late = unanswered): Effect.Effect<A, E | SqlError, R> =>
  Effect.contextWith((context: Context.Context<R>) =>
    Effect.callback<A, E | SqlError>((resume) => {
      const { budget, statementMillis } = Context.get(context, Patience)
      const most = budget === undefined ? statementMillis : Math.min(statementMillis, budget.millisLeft)
      if (most <= 0) return resume(Effect.fail(late))
      const started = Elapsed.millisOf(realClock)
      let isLate = false
      const fiber = Effect.runForkWith(context)(effect)
      const giveUp = () => {
        isLate = true
        fiber.interruptUnsafe()
      }
      // The server's time is real, also if a test sets the fiber's clock.
      // @effect-diagnostics-next-line globalTimersInEffect:off
      const timer = setTimeout(giveUp, most)
      fiber.addObserver((exit) => {
        clearTimeout(timer)
        const elapsed = Elapsed.millisOf(realClock) - started
        // A timer can fire before the clock shows its time. The rest of a millisecond would let one more query start.
        const took = isLate ? Math.max(elapsed, most) : elapsed
        if (took >= slowMillis && budget !== undefined) budget.millisLeft -= took
        resume(isLate && Exit.isFailure(exit) ? Effect.fail(late) : exit)
      })
      return Fiber.interrupt(fiber)
    })
  )

/** The same with a full timeout, because a transaction must end whatever came before. */
export const withinAnew = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.flatMap(Patience, ({ statementMillis }) =>
    Effect.provideService(within(effect), Patience, { statementMillis })
  )

/** Timeout of a client's statements. */
export interface Limits {
  within<A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R>
  withinAnew<A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R>
}

/** For a database inside of the process, which does not hang by itself. */
export const endless: Limits = { within: (statement) => statement, withinAnew: (statement) => statement }

const realClock = Clock.Clock.defaultValue()

const unanswered = new SqlError({
  reason: new ConnectionError({ cause: new Error("The database did not answer in time"), operation: "query" })
})
