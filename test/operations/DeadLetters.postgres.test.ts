import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as DeadLetters from "../../src/operations/DeadLetters.ts"
import * as Ledger from "../../src/operations/Ledger.ts"
import * as FullHour from "../FullHour.ts"
import * as TestDatabase from "../TestDatabase.ts"

// The embedded database has one session and thus no concurrency.
layer(TestDatabase.layer, { excludeTestServices: true })("The dead letters of a domain on two days", (it) => {
  it.effect("are told of one after the other by two processes", () =>
    Effect.gen(function* () {
      yield* FullHour.away
      const sql = yield* SqlClient.SqlClient
      const [workspaceId, domainId] = [randomUUID(), randomUUID()]
      yield* sql`INSERT INTO workspaces (id, name, api_key_hash, signing_secret) VALUES (${workspaceId}, '', '', '')`
      yield* sql`
        INSERT INTO domains (id, workspace_id, name, origin, status, verified_at)
        VALUES (${domainId}, ${workspaceId}, 'a.example', 'byo', 'live', now())
      `
      yield* sql`
        INSERT INTO domain_days (domain_id, day, accepted, bytes, delivered, failed, dead)
        SELECT ${domainId}, (now() AT TIME ZONE 'UTC')::date - ago, 1, 1, 0, 1, 1 FROM unnest(ARRAY[0, 1]) AS ago
      `
      const record = yield* Ledger.make
      const [taken, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const one = yield* Effect.forkChild(
        DeadLetters.recordNext(sql, (draft) =>
          record(draft).pipe(
            Effect.tap(() => Deferred.succeed(taken, undefined)),
            Effect.tap(() => Deferred.await(mayEnd))
          )
        )
      )
      yield* Deferred.await(taken)
      const other = yield* Effect.timeoutOption(DeadLetters.recordNext(sql, record), "3 seconds")
      assert.deepStrictEqual(other, Option.some(false), "It leaves the whole domain to the first one")
      yield* Deferred.succeed(mayEnd, undefined)
      assert.isTrue(yield* Fiber.join(one))
      assert.isFalse(yield* DeadLetters.recordNext(sql, record))
      yield* sql`UPDATE operational_events SET period = period - interval '1 hour'`
      assert.isTrue(yield* DeadLetters.recordNext(sql, record))
      const events = yield* sql<{ readonly day: string }>`
        SELECT DISTINCT payload::json ->> 'day' AS day FROM operational_events
      `
      assert.lengthOf(events, 2)
    })
  )
})
