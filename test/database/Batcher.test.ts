import { setImmediate as turn } from "node:timers/promises"
import { assert, describe, it, vi } from "@effect/vitest"
import { Cause, Effect, Exit, Scope } from "effect"
import * as Batcher from "../../src/database/Batcher.ts"

type Ended = (exit: Exit.Exit<ReadonlyArray<string>, string>) => void

/** Event-loop turns without new items, after which batches start. */
const quiet = Effect.promise(() => turn()).pipe(Effect.repeat({ times: 2 }))

/** A batcher whose batches the test completes, with all that it reports. */
const recording = (
  limits: {
    readonly lanes?: number
    readonly most?: number
    readonly mostBytes?: number
    readonly gather?: { readonly millis: number; readonly enough: number }
  } = {}
) => {
  const begun: Array<{ readonly items: ReadonlyArray<string>; readonly ended: Ended }> = []
  const told: Array<string> = []
  const push = Batcher.plain<string, string, string>((items, ended) => void begun.push({ items, ended }), {
    succeeded: (item, out) => void told.push(`${item}: ${out}`),
    failed: (item, cause) => void told.push(`${item} failed: ${Cause.squash(cause)}`),
    isOutage: (error) => error === "away",
    bytesOf: (item) => item.length,
    ...limits
  })
  const end = (batch: number, result: Exit.Exit<ReadonlyArray<string>, string> | undefined = undefined) => {
    const { ended, items } = begun[batch] ?? assert.fail(`there is no batch ${batch}`)
    ended(result ?? Exit.succeed(items.map((item) => item.toUpperCase())))
  }
  return { push, told, end, batches: () => begun.map(({ items }) => items.join(" ")) }
}

/** A turn of a busy machine takes longer than a batch waits. */
const stillClock = Effect.acquireRelease(
  Effect.sync(() => vi.spyOn(performance, "now").mockReturnValue(1_000)),
  (spy) => Effect.sync(() => spy.mockRestore())
)

describe("A batcher", () => {
  it.effect("starts after an event-loop turn without new items, with all items so far", () =>
    Effect.gen(function* () {
      yield* stillClock
      const { batches, end, push, told } = recording()
      push("a")
      yield* Effect.promise(() => turn())
      push("b")
      assert.deepStrictEqual(batches(), [])
      yield* quiet
      assert.deepStrictEqual(batches(), ["a b"])
      end(0)
      assert.deepStrictEqual(told, ["a: A", "b: B"])
    })
  )

  it.effect("starts after at most 20 ms or with a full batch", () =>
    Effect.gen(function* () {
      const now = yield* stillClock
      const many = recording({ most: 1_000_000 })
      const pushed = ["x"]
      many.push("x")
      for (let turns = 0; turns < 100; turns++) {
        now.mockReturnValue(1_000 + turns / 5)
        pushed.push("x")
        many.push("x")
        yield* Effect.promise(() => turn())
      }
      assert.deepStrictEqual(many.batches(), [])
      now.mockReturnValue(1_020)
      pushed.push("x")
      many.push("x")
      yield* Effect.promise(() => turn())
      assert.deepStrictEqual(many.batches(), [pushed.join(" ")])

      for (const limits of [{ most: 3 }, { mostBytes: 3 }]) {
        const full = recording(limits)
        for (const item of ["a", "b", "c"]) full.push(item)
        yield* Effect.promise(() => turn())
        assert.deepStrictEqual(full.batches(), ["a b c"])
      }
    })
  )

  it.effect("collects items for the next batch while one runs", () =>
    Effect.gen(function* () {
      const { batches, end, push } = recording()
      push("a")
      yield* quiet
      push("b")
      yield* quiet
      push("c")
      yield* quiet
      assert.deepStrictEqual(batches(), ["a"])
      end(0)
      yield* quiet
      assert.deepStrictEqual(batches(), ["a", "b c"])
    })
  )

  it.effect("waits, if configured, for a minimum size or a maximum delay", () =>
    Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.useFakeTimers({ toFake: ["setTimeout"] })),
        () => Effect.sync(() => vi.useRealTimers())
      )
      const { batches, end, push } = recording({ gather: { millis: 30, enough: 3 } })
      push("a")
      yield* quiet
      push("b")
      yield* quiet
      vi.advanceTimersByTime(29)
      assert.deepStrictEqual(batches(), [])
      vi.advanceTimersByTime(1)
      assert.deepStrictEqual(batches(), ["a b"])
      for (const item of ["c", "d", "e"]) push(item)
      end(0)
      yield* quiet
      assert.deepStrictEqual(batches(), ["a b", "c d e"])
    })
  )

  it.effect("runs as many batches concurrently as it has lanes", () =>
    Effect.gen(function* () {
      const { batches, end, push } = recording({ lanes: 2 })
      for (const item of ["a", "b", "c"]) {
        push(item)
        yield* quiet
      }
      assert.deepStrictEqual(batches(), ["a", "b"])
      end(1)
      yield* quiet
      assert.deepStrictEqual(batches(), ["a", "b", "c"])
    })
  )

  it.effect("limits a batch to 64 items and to a number of bytes, unless one item exceeds it", () =>
    Effect.gen(function* () {
      const many = recording()
      for (let number = 0; number < 65; number++) many.push("x")
      yield* quiet
      many.end(0)
      yield* quiet
      assert.deepStrictEqual(
        many.batches().map((items) => items.split(" ").length),
        [64, 1]
      )

      const large = recording({ mostBytes: 5, lanes: 9 })
      for (const item of ["aaaaaaaa", "bbb", "cc", "d", "eeeee"]) large.push(item)
      yield* quiet
      assert.deepStrictEqual(large.batches(), ["aaaaaaaa", "bbb cc", "d", "eeeee"])
    })
  )

  it.effect("retries each item alone after a batch fails", () =>
    Effect.gen(function* () {
      const { batches, end, push, told } = recording()
      for (const item of ["a", "b", "c"]) push(item)
      yield* quiet
      push("d")
      end(0, Exit.fail("one is bad"))
      assert.deepStrictEqual(told, [])
      end(1)
      end(2, Exit.fail("bad"))
      end(3)
      yield* quiet
      end(4)
      assert.deepStrictEqual(batches(), ["a b c", "a", "b", "c", "d"])
      assert.deepStrictEqual(told, ["a: A", "b failed: bad", "c: C", "d: D"])
    })
  )

  it.effect("does not retry after an outage, an interruption or a failure of one item", () =>
    Effect.gen(function* () {
      const { batches, end, push, told } = recording()
      for (const result of [Exit.fail("away"), Exit.interrupt(1)]) {
        push("a")
        push("b")
        yield* quiet
        end(batches().length - 1, result)
      }
      push("c")
      yield* quiet
      end(2, Exit.die("a bug"))
      yield* quiet
      assert.deepStrictEqual(batches(), ["a b", "a b", "c"])
      assert.lengthOf(told, 5)
      assert.deepStrictEqual([told[0], told[1], told[4]], ["a failed: away", "b failed: away", "c failed: a bug"])
    })
  )

  it.effect("fails an item without a result", () =>
    Effect.gen(function* () {
      const { end, push, told } = recording()
      push("a")
      push("b")
      yield* quiet
      end(0, Exit.succeed(["A"]))
      assert.deepStrictEqual(told, ["a: A", "b failed: A batch has no result for one of its items"])
    })
  )

  it.effect("accepts items pushed while it reports results", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const push: (item: string) => void = Batcher.plain<string, string, never>(
        (items, ended) => ended(Exit.succeed(items)),
        {
          succeeded: (item) => {
            told.push(item)
            if (item.length < 3) push(`${item}x`)
          },
          failed: () => assert.fail("nothing fails"),
          isOutage: () => false,
          bytesOf: () => 1
        }
      )
      push("x")
      yield* quiet
      yield* quiet
      yield* quiet
      assert.deepStrictEqual(told, ["x", "xx", "xxx"])
    })
  )

  it.effect("runs an effect for each batch until its scope closes, also after a defect", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const scope = yield* Scope.make()
      const push = yield* Batcher.make(
        (items: ReadonlyArray<string>) => {
          assert.notInclude(items, "bad")
          return items.includes("slow") ? Effect.never : Effect.succeed(items.map((item) => item.length))
        },
        { isOutage: () => false, bytesOf: () => 1 }
      ).pipe(Scope.provide(scope))
      const pushed = (item: string) =>
        Effect.matchCause(push(item), {
          onSuccess: (out) => void told.push(`${item}: ${out}`),
          onFailure: (cause) => void told.push(`${item}${Cause.hasInterrupts(cause) ? " interrupted" : " died"}`)
        })
      const pushing = (...items: ReadonlyArray<string>) =>
        Effect.andThen(
          Effect.forEach(items, (item) => Effect.forkDetach(pushed(item), { startImmediately: true })),
          quiet
        )
      yield* pushing("aa", "bad", "bbb")
      assert.deepStrictEqual(told, ["aa: 2", "bad died", "bbb: 3"])
      yield* pushing("slow")
      yield* Scope.close(scope, Exit.void)
      yield* pushing("late")
      assert.deepStrictEqual(told.slice(3), ["slow interrupted", "late interrupted"])
    })
  )
})
