import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Reader } from "../../src/reading/Reader.ts"
import * as ReaderWorker from "../../src/reading/ReaderWorker.ts"
import { eventually } from "../Eventually.ts"
import * as TestDatabase from "../TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("The worker for mail that was left over", (it) => {
  it.effect("reads mail of others while that of a tenant takes long, and claims no more of that tenant", () =>
    Effect.gen(function* () {
      const claims: Array<ReadonlyArray<string>> = []
      let left = 40
      let hanging = 0
      const read: Array<string> = []
      const claimLeftOver = (except: ReadonlyArray<string>) =>
        Effect.sync(() => {
          claims.push(except)
          const slow = except.includes("slow") ? [] : [{ tenant: "slow", read: Effect.never }]
          hanging += slow.length
          const other = left === 0 ? [] : [{ tenant: "other", read: Effect.sync(() => void read.push(`${left--}`)) }]
          return [...slow, ...other]
        })
      yield* Layer.build(
        Layer.provide(
          ReaderWorker.layer,
          Layer.mock(Reader)({ reserve: () => false, release: () => {}, claimLeftOver })
        )
      )
      yield* eventually(
        Effect.sync(() => read.length),
        (count) => count === 40
      )
      assert.strictEqual(hanging, 8)
      assert.deepStrictEqual(claims[8], ["slow"])
    })
  )

  it.effect("reads at most 64 messages at a time", () =>
    Effect.gen(function* () {
      let claimed = 0
      const claimLeftOver = () =>
        Effect.sync(() => Array.from({ length: 16 }, () => ({ tenant: `${claimed++}`, read: Effect.never })))
      yield* Layer.build(
        Layer.provide(
          ReaderWorker.layer,
          Layer.mock(Reader)({ reserve: () => false, release: () => {}, claimLeftOver })
        )
      )
      yield* eventually(
        Effect.sync(() => claimed),
        (count) => count === 64
      )
      yield* Effect.sleep("1500 millis")
      assert.strictEqual(claimed, 64)
    })
  )
})
