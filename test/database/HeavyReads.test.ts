import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as HeavyReads from "../../src/database/HeavyReads.ts"
import { Asker } from "../../src/database/Turns.ts"

/** Reads of a given duration that record their start. */
const world = (millis: number) => {
  const reads = HeavyReads.make()
  const begun: Array<string> = []
  const read = (asker: string | undefined) =>
    Effect.provideService(
      reads.within(
        Effect.andThen(
          Effect.sync(() => void begun.push(asker ?? "nobody")),
          Effect.sleep(millis)
        )
      ),
      Asker,
      asker
    )
  return { begun, read }
}

describe("Heavy reads", () => {
  it.effect("run one at a time, with a pause as long as each read", () =>
    Effect.gen(function* () {
      const { begun, read } = world(40)
      const all = yield* Effect.forkChild(
        Effect.forEach(Array.range(1, 3), () => read("one"), { concurrency: "unbounded" })
      )
      const counts: Array<number> = []
      for (let time = 0; time < 5; time++) {
        yield* TestClock.adjust("39 millis")
        counts.push(begun.length)
        yield* TestClock.adjust("1 millis")
      }
      assert.deepStrictEqual(counts, [1, 1, 2, 2, 3])
      yield* Fiber.join(all)
    })
  )

  it.effect("alternate between clients", () =>
    Effect.gen(function* () {
      const { begun, read } = world(10)
      const asked = [...Array.makeBy(5, () => "one"), "two", "three"]
      const all = yield* Effect.forkChild(Effect.forEach(asked, read, { concurrency: "unbounded" }))
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.join(all)
      assert.deepStrictEqual(begun, ["one", "one", "two", "three", "one", "one", "one"])
    })
  )

  it.effect("without a client do not wait", () =>
    Effect.gen(function* () {
      const { begun, read } = world(10)
      const all = yield* Effect.forkChild(
        Effect.forEach(["one", "one", undefined, undefined], read, { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(begun, ["one", "nobody", "nobody"])
      yield* TestClock.adjust("1 seconds")
      yield* Fiber.join(all)
    })
  )

  it.effect("of an interrupted request leave the queue", () =>
    Effect.gen(function* () {
      const { begun, read } = world(1_000)
      const given = yield* Effect.forkChild(read("one"))
      const next = yield* Effect.forkChild(read("two"))
      yield* TestClock.adjust("10 millis")
      yield* Fiber.interrupt(given)
      yield* TestClock.adjust("10 millis")
      assert.deepStrictEqual(begun, ["one", "two"])
      yield* Fiber.interrupt(next)
    })
  )
})
