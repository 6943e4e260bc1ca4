import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { eventually } from "../Eventually.ts"
import * as RawLog from "../RawLog.ts"
import * as TestDatabase from "../TestDatabase.ts"
import * as ErasableDomain from "./ErasableDomain.ts"

// The embedded database has one session, and so nothing that happens at once.
layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("Raw messages are erased", (it) => {
  it.effect("also when their rows are committed while the removal of their domain waits for that", () =>
    Effect.gen(function* () {
      const root = yield* ErasableDomain.folder
      const { erase, keep, remove, row, sql } = yield* ErasableDomain.make(1, 10, root)
      const late = yield* keep
      const written = yield* Deferred.make<void>()
      const removing = yield* Effect.forkChild(Effect.andThen(Deferred.await(written), remove))
      const waits = sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* row(late)
          yield* Deferred.succeed(written, undefined)
          yield* eventually(waits, ({ length }) => length === 1)
        })
      )
      yield* Fiber.join(removing)
      assert.strictEqual(yield* erase, 2)
      assert.deepStrictEqual(yield* RawLog.records(root), [])
    })
  )
})
