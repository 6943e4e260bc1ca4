import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { eventually } from "../Eventually.ts"
import * as RawLog from "../RawLog.ts"
import * as TestDatabase from "../TestDatabase.ts"
import * as ErasableDomain from "./ErasableDomain.ts"

/** Commits a row of a domain with so many other messages while the domain's removal waits for it. */
const commitsMeanwhile = Effect.fnUntraced(function* (messages: number) {
  const root = yield* ErasableDomain.folder
  const { erase, keep, remove, row, sql } = yield* ErasableDomain.make(messages, 10, root)
  const late = yield* keep
  const [written, removalWaits] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const accepting = yield* Effect.forkChild(
    sql.withTransaction(
      row(late).pipe(Effect.andThen(Deferred.succeed(written, undefined)), Effect.andThen(Deferred.await(removalWaits)))
    )
  )
  yield* Deferred.await(written)
  const removing = yield* Effect.forkChild(remove)
  yield* eventually(
    sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    ({ length }) => length === 1
  )
  yield* Deferred.succeed(removalWaits, undefined)
  yield* Fiber.joinAll([accepting, removing])
  assert.strictEqual(yield* erase, messages + 1)
  assert.deepStrictEqual(yield* RawLog.records(root), [])
})

// The embedded database has one session and thus no concurrency.
layer(TestDatabase.layer, { excludeTestServices: true })("A raw message is erased", (it) => {
  it.effect("even if its row commits while the removal of its domain waits for it", () => commitsMeanwhile(1))

  // The removal of a domain without mail queues no erasure.
  it.effect("even if it is the first of its domain, and commits while the removal waits for it", () =>
    commitsMeanwhile(0)
  )
})
