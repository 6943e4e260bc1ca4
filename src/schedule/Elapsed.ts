import { Clock, type Duration, Effect } from "effect"

// Durations are measured with this, because an operator or NTP may set the system clock back by an hour meanwhile.

/** Milliseconds since some moment, which no change of the system clock moves. */
export const millisOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)

/** The same by the clock of the fiber. */
export const millis: Effect.Effect<number> = Effect.map(Clock.Clock, millisOf)

/** A clock whose time of day is `millisOf` another. */
class ElapsedClock implements Clock.Clock {
  readonly real: Clock.Clock

  constructor(real: Clock.Clock) {
    this.real = real
  }
  currentTimeMillisUnsafe = () => millisOf(this.real)
  currentTimeMillis = Effect.sync(this.currentTimeMillisUnsafe)
  currentTimeNanosUnsafe = () => this.real.monotonicTimeNanosUnsafe()
  currentTimeNanos = Effect.sync(this.currentTimeNanosUnsafe)
  monotonicTimeNanosUnsafe = this.currentTimeNanosUnsafe
  monotonicTimeNanos = this.currentTimeNanos
  sleep: Clock.Clock["sleep"] = (duration) => this.real.sleep(duration)
}

/** Runs what asks a cache of `effect`, whose entries expire by the time of day. */
export const ofCache = <A, E, R>(asking: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateService(asking, Clock.Clock, (clock) => new ElapsedClock(clock))

/** Gives what such a cache looks up the time of day again. */
export const ofLookup = <A, E, R>(lookup: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateService(lookup, Clock.Clock, (clock) => (clock instanceof ElapsedClock ? clock.real : clock))

/** `Effect.cachedWithTTL` by elapsed time. */
export const cached =
  (timeToLive: Duration.Input) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E, R>> =>
    Effect.map(Effect.cachedWithTTL(ofLookup(self), timeToLive), ofCache)
