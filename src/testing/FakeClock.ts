import { Clock, Duration, Effect, Layer } from "effect"

export interface FakeClock {
  /** For `clock` of `TestInlet.layer`. */
  readonly layer: Layer.Layer<never>
  /** Moves the service's clock by milliseconds, backwards if negative. Sleeps are not affected. */
  move(by: Duration.Input): Effect.Effect<void>
}

/**
 * The system clock with an offset. It affects times from the service's clock: webhook signatures, certificates,
 * cursors. Times of the database, such as retries and leases, do not change: set `WEBHOOK_RETRY_DELAYS` for those.
 */
export const make = (): FakeClock => {
  let ahead = 0
  const moved = (clock: Clock.Clock): Clock.Clock => ({
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + ahead,
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + ahead),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(ahead) * 1_000_000n,
    currentTimeNanos: Effect.map(clock.currentTimeNanos, (nanos) => nanos + BigInt(ahead) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  })
  return {
    layer: Layer.effect(Clock.Clock, Effect.map(Clock.Clock, moved)),
    move: (by) =>
      Effect.sync(() => {
        ahead += Math.round(Duration.toMillis(by))
      })
  }
}
