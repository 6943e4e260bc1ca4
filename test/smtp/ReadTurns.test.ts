import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ReadTurns } from "../../src/smtp/ReadTurns.ts"

const kib = 1_024
const nextTurn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))

/** What read on, in order. */
const making = () => {
  const turns = new ReadTurns(() => 0)
  const went: Array<string> = []
  return { went, read: (name: string, bytes = 32 * kib) => turns.readOn(name, bytes, () => void went.push(name)) }
}

describe("Large reads of messages", () => {
  it.live("are limited to 64 KiB in an event-loop turn, and go on in the next ones", () =>
    Effect.gen(function* () {
      const { read, went } = making()
      for (let connection = 0; connection < 5; connection++) read("a")
      assert.strictEqual(went.length, 2)
      yield* nextTurn
      assert.strictEqual(went.length, 4)
      yield* nextTurn
      assert.strictEqual(went.length, 5)
      read("a")
      assert.strictEqual(went.length, 6)
    })
  )

  it.live("of the tenant with the fewest recent bytes come first", () =>
    Effect.gen(function* () {
      const { read, went } = making()
      for (let connection = 0; connection < 8; connection++) read("a")
      yield* nextTurn
      read("b")
      assert.deepStrictEqual(new Set(went), new Set(["a"]))
      yield* nextTurn
      assert.strictEqual(went[4], "b")
      yield* nextTurn
      yield* nextTurn
      assert.strictEqual(went.length, 9)
    })
  )

  it.live("have a turn of their own if they are larger than its limit", () =>
    Effect.gen(function* () {
      const { read, went } = making()
      read("a")
      read("b", 2 * 1_024 * kib)
      assert.deepStrictEqual(went, ["a"])
      yield* nextTurn
      assert.deepStrictEqual(went, ["a", "b"])
    })
  )

  it.live("let small ones pass", () =>
    Effect.gen(function* () {
      const { read, went } = making()
      for (let connection = 0; connection < 32; connection++) read("a")
      went.length = 0
      read("b", 4 * kib)
      assert.deepStrictEqual(went, ["b"])
      yield* nextTurn
    })
  )
})
