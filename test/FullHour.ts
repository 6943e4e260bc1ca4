import { Clock, Effect } from "effect"

const hour = 3_600_000

/** Waits for the next full hour if it is near, for a test that counts in one hour. */
export const away = Effect.gen(function* () {
  const left = hour - ((yield* Clock.currentTimeMillis) % hour)
  if (left < 20_000) yield* Effect.sleep(left)
})
