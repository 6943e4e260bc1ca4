import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { SqlError } from "effect/sql/SqlError"
import * as Patience from "../../src/database/Patience.ts"

/** A statement that records its end and takes this long to cancel. */
const hanging = (told: Array<string>, millis = 0) =>
  Effect.never.pipe(
    Effect.onInterrupt(() =>
      Effect.andThen(
        Effect.sleep(millis),
        Effect.sync(() => void told.push("given up"))
      )
    )
  )

describe("A query with a timeout", () => {
  it.live("returns its result, failure or defect unchanged", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Patience.within(Effect.succeed(1)), 1)
      assert.strictEqual(yield* Patience.within(Effect.delay(Effect.succeed(2), 5)), 2)
      assert.deepStrictEqual(yield* Effect.exit(Patience.within(Effect.fail("no"))), Exit.fail("no"))
      assert.deepStrictEqual(yield* Effect.exit(Patience.within(Effect.die("bug"))), Exit.die("bug"))
    })
  )

  it.live("fails at its timeout after the server cancelled it", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const started = performance.now()
      const error = yield* Effect.flip(Patience.ofRequest(Patience.within(hanging(told, 50))))
      assert.instanceOf(error, SqlError)
      assert.deepStrictEqual(told, ["given up"])
      assert.isAtLeast(performance.now() - started, 3_000)
    })
  )

  it.live("is cancelled on interruption, which completes after the cancellation", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const begun = yield* Deferred.make<void>()
      const waiting = yield* Effect.forkChild(
        Patience.within(Effect.andThen(Deferred.succeed(begun, undefined), hanging(told, 50)))
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(told, ["given up"])
    })
  )

  it.live("uses up the timeout of its request, and the next query does not start", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      yield* Patience.ofRequest(
        Effect.gen(function* () {
          yield* Effect.ignore(Patience.within(hanging(told)))
          yield* Effect.ignore(Patience.within(hanging(told)))
          yield* Effect.flip(Patience.within(Effect.sync(() => void told.push("begun"))))
          // The end of a transaction is always sent.
          yield* Patience.withinAnew(Effect.sync(() => void told.push("ended")))
        })
      )
      assert.deepStrictEqual(told, ["given up", "given up", "ended"])
    })
  )
})
