import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import * as Ledger from "../../src/operations/Ledger.ts"
import { eventually } from "../Eventually.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** The event of a full quota. */
const draft = (workspaceId: WorkspaceId): Ledger.Draft => ({
  workspaceId,
  domainId: null,
  details: {
    type: "quota.reached",
    occurred_at: DateTime.makeUnsafe(0),
    percent: 80,
    accepted: 8,
    limit: 10,
    day_ends_at: DateTime.makeUnsafe(0),
    message: ""
  }
})

// The embedded database has one session and thus no concurrency.
layer(TestDatabase.layer, { excludeTestServices: true })("The ledger", (it) => {
  it.effect("takes operational webhooks in the order of their ids, so that two processes cannot deadlock", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ids = Array.from({ length: 20 }, () => WorkspaceId.make(randomUUID())).sort()
      // In the order of their rows, the last is the first.
      for (const id of ids.toReversed()) {
        yield* sql`INSERT INTO workspaces (id, name, api_key_hash, signing_secret) VALUES (${id}, '', ${id}, '')`
        yield* sql`INSERT INTO operational_webhooks (workspace_id, url) VALUES (${id}, 'http://127.0.0.1:9/')`
      }
      const record = yield* Ledger.makeAll
      const [first = assert.fail()] = ids
      const [held, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = yield* Effect.forkChild(
        sql.withTransaction(
          sql`SELECT 1 FROM operational_webhooks WHERE workspace_id = ${first} FOR UPDATE`.pipe(
            Effect.andThen(Deferred.succeed(held, undefined)),
            Effect.andThen(Deferred.await(mayEnd))
          )
        )
      )
      yield* Deferred.await(held)
      const recording = yield* Effect.forkChild(record(ids.map(draft)))
      yield* eventually(
        sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        ({ length }) => length === 1
      )
      const free = yield* sql`SELECT 1 FROM operational_webhooks FOR UPDATE SKIP LOCKED`
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(holding)
      assert.strictEqual(yield* Fiber.join(recording), ids.length)
      assert.lengthOf(free, ids.length - 1, "It waits for the first one and has no other")
      const due = yield* sql`SELECT 1 FROM operational_webhooks WHERE turn_at <= now()`
      assert.lengthOf(due, ids.length)
    })
  )
})
