import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { isUnreachable } from "../../src/database/Database.ts"
import * as TestDatabase from "../TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("A process that is suspended within a transaction", (it) => {
  it.effect("holds the locks of its rows for 15 seconds, and then loses the transaction", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE locked (id int PRIMARY KEY, by text)`
      yield* sql`INSERT INTO locked VALUES (1, 'nobody')`
      const suspended = yield* sql
        .withTransaction(
          Effect.andThen(sql`UPDATE locked SET by = 'the suspended' WHERE id = 1`, Effect.sleep("18 seconds"))
        )
        .pipe(Effect.exit, Effect.forkChild)
      yield* Effect.sleep("1 second")
      const other = sql`UPDATE locked SET by = 'another' WHERE id = 1`
      yield* Effect.retry(other, { while: isUnreachable, times: 2 })
      assert.isTrue(Exit.isFailure(yield* Fiber.join(suspended)))
      assert.deepStrictEqual(yield* sql`SELECT by FROM locked`, [{ by: "another" }])
    })
  )
})
