import { assert, describe, it } from "@effect/vitest"
import { Array, ConfigProvider, Duration, Effect, Option, Random } from "effect"
import * as Retries from "../../src/delivery/Retries.ts"
import * as Settings from "../../src/Settings.ts"
import * as RetryDelay from "../../src/schedule/RetryDelay.ts"

const webhooks = (env: Record<string, string>) =>
  Settings.webhooks.pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))

const standard = Effect.map(webhooks({}), ({ retryDelays }) => Retries.schedule(retryDelays))

/** The delays in seconds after each failure of a retry budget. */
const waits = Effect.fnUntraced(function* (schedule: ReturnType<typeof Retries.schedule>, failures: number) {
  const found = yield* Effect.forEach(Array.range(1, failures), (failure) => RetryDelay.after(schedule, failure))
  return found.map((wait) => (Option.isNone(wait) ? null : Duration.toSeconds(wait.value)))
})

const documented = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]

describe("Retries", () => {
  it.effect("are eleven attempts over about three days, then the delivery is dead", () =>
    Effect.gen(function* () {
      const found = yield* Effect.flatMap(standard, (schedule) => waits(schedule, 12))
      assert.isTrue(found.slice(0, 10).every((wait) => wait !== null))
      assert.deepStrictEqual(found.slice(10), [null, null])
      const days = found.reduce((sum: number, wait) => sum + (wait ?? 0), 0) / 86_400
      assert.isAbove(days, 3.15 * 0.8)
      assert.isBelow(days, 3.15 * 1.2)
    }).pipe(Random.withSeed("eleven attempts"))
  )

  it.effect("have a jitter of at most 20 % in each direction", () =>
    Effect.gen(function* () {
      const schedule = yield* standard
      const rounds = yield* Effect.forEach(Array.range(1, 200), () => waits(schedule, documented.length))
      documented.forEach((documentedWait, index) => {
        const shares = rounds.map((found) => (found[index] ?? Number.NaN) / documentedWait)
        assert.isAtLeast(Math.min(...shares), 0.8)
        assert.isAtMost(Math.max(...shares), 1.2)
        assert.isBelow(Math.min(...shares), 0.85)
        assert.isAbove(Math.max(...shares), 1.15)
      })
    }).pipe(Random.withSeed("spread"))
  )

  it.effect("follow WEBHOOK_RETRY_DELAYS", () =>
    Effect.gen(function* () {
      const { retryDelays } = yield* webhooks({ WEBHOOK_RETRY_DELAYS: "100ms, 2s" })
      const [first, second, third] = yield* waits(Retries.schedule(retryDelays), 3)
      assert.closeTo(first ?? Number.NaN, 0.1, 0.02)
      assert.closeTo(second ?? Number.NaN, 2, 0.4)
      assert.isNull(third)
    }).pipe(Random.withSeed("settings"))
  )

  it.effect("have the same delay after a failure in another process", () =>
    Effect.gen(function* () {
      const schedule = yield* standard
      const third = yield* RetryDelay.after(schedule, 3)
      assert.closeTo(Duration.toSeconds(Option.getOrThrow(third)), 300, 60)
    }).pipe(Random.withSeed("third"))
  )

  it.effect("require at least one delay and name the setting", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(webhooks({ WEBHOOK_RETRY_DELAYS: "," }))
      assert.include(Settings.explain(error), "WEBHOOK_RETRY_DELAYS")
    })
  )
})
