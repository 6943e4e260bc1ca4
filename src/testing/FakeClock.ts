import { Clock, Duration, Effect, Layer } from "effect"

export interface FakeClock {
  /** For `clock` of `TestInlet.layer`. */
  readonly layer: Layer.Layer<never>
  /** Moves the service's clock, into the past with a negative number of milliseconds. Whoever sleeps does so as before. */
  move(by: Duration.Input): Effect.Effect<void>
}

/**
 * The machine's clock, moved. What the service dates by its own clock follows:
 * signatures of webhooks, certificates, cursors. What the database dates does
 * not, such as retries and leases: shorten `WEBHOOK_RETRY_DELAYS` for those.
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
