import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
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

describe("A background loop", () => {
  it.effect("logs the first of its failures in a row, then one a minute, and their end", () => {
    const logged: Array<string> = []
    return Effect.gen(function* () {
      let isBroken = true
      yield* BackgroundLoop.every(
        "1 second",
        "A look failed",
        Effect.suspend(() => (isBroken ? Effect.fail("out of reach") : Effect.void))
      )
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(logged, ["ERROR A look failed: out of reach"])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(logged.slice(1), ["ERROR A look failed (61 times in a row): out of reach"])
      isBroken = false
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(logged.slice(2), ["INFO It works again after 120 failures: A look failed"])
      isBroken = true
      yield* TestClock.adjust("1 second")
      isBroken = false
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(logged.slice(3), ["ERROR A look failed: out of reach"])
    }).pipe(
      Effect.provide(
        Logger.layer([
          Logger.make(({ logLevel, message }) => {
            if (logLevel !== "Debug") logged.push(`${logLevel.toUpperCase()} ${[message].flat()[0]}`)
          })
        ])
      )
    )
  })
})
