import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as OneRun from "../../src/schedule/OneRun.ts"

describe("Work that cannot be interrupted", () => {
  it.effect("keeps nobody beyond a timeout, runs once at a time, and again after its end", () =>
    Effect.gen(function* () {
      let runs = 0
      const [hanging, after] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const work = Effect.suspend(() => Deferred.await(++runs === 1 ? hanging : after)).pipe(Effect.uninterruptible)
      const asked = Effect.timeoutOption(yield* OneRun.make(work), "3 seconds")
      const both = yield* Effect.forkChild(Effect.all([asked, asked], { concurrency: "unbounded" }))
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(
        (yield* Fiber.join(both)).map(({ _tag }) => _tag),
        ["None", "None"]
      )
      const waiting = yield* Effect.forkChild(asked)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(runs, 1)
      yield* Deferred.succeed(hanging, undefined)
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "Some")
      yield* Deferred.succeed(after, undefined)
      assert.strictEqual((yield* asked)._tag, "Some")
      assert.strictEqual(runs, 2)
    }).pipe(Effect.scoped)
  )
})
