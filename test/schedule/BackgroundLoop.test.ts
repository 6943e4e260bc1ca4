import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as BackgroundLoop from "../../src/schedule/BackgroundLoop.ts"

describe("A look at work under way", () => {
  it.effect("is taken after each interval from the first work until none is left", () =>
    Effect.gen(function* () {
      let underWay = 0
      let looks = 0
      const busy = yield* BackgroundLoop.whileBusy("1 second", "A look failed", () => {
        looks++
        return underWay > 0
      })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(looks, 0)
      underWay = 1
      busy()
      busy()
      yield* TestClock.adjust("999 millis")
      assert.strictEqual(looks, 0)
      yield* TestClock.adjust("2001 millis")
      assert.strictEqual(looks, 3)
      underWay = 0
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(looks, 4)
      underWay = 1
      busy()
      yield* TestClock.adjust("1 second")
      assert.strictEqual(looks, 5)
    })
  )

  it.effect("goes on after one that failed", () =>
    Effect.gen(function* () {
      let looks = 0
      const busy = yield* BackgroundLoop.whileBusy("1 second", { says: "A look failed", level: "Debug" }, () => {
        looks++
        if (looks === 1) throw new Error("a bug")
        return true
      })
      busy()
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual(looks, 3)
    })
  )
})
