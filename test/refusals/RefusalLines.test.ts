import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import * as RefusalLines from "../../src/refusals/RefusalLines.ts"

describe("Log lines about refusals", () => {
  it.effect("are at most 100 in 10 seconds, and one more tells how many were left out", () => {
    const logged: Array<unknown> = []
    return Effect.gen(function* () {
      const lines = yield* RefusalLines.make
      const takeAll = (times: number) => Array.from({ length: times }, lines.take).filter((isTaken) => isTaken).length
      assert.strictEqual(takeAll(100), 100)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(logged, [])
      assert.strictEqual(takeAll(250), 100)
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(takeAll(1), 0)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(logged, [
        { message: ["Further refusals of mail were counted, not logged"], refusals: 151 }
      ])
      assert.strictEqual(takeAll(1), 1)
    }).pipe(
      Effect.provide(
        Logger.layer([
          Logger.make(
            ({ fiber, message }) => void logged.push({ message, ...fiber.getRef(References.CurrentLogAnnotations) })
          )
        ])
      )
    )
  })
})
