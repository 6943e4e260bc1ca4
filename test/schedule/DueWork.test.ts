import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as DueWork from "../../src/schedule/DueWork.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** Watches of their own, with a look that counts for this time. */
const watches = (lookEvery: number) =>
  Effect.map(
    Layer.build(Layer.fresh(DueWork.layer).pipe(Layer.provide(Layer.succeed(DueWork.LookEvery, lookEvery)))),
    Context.get(DueWork.DueWork)
  )

layer(TestDatabase.layer, { excludeTestServices: true })("Background work", (it) => {
  it.effect("is due while its condition finds a row, each by its own", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE due_work_test (name text)`
      const { watch } = yield* watches(0)
      const of = (name: string) => watch(sql`SELECT true FROM due_work_test WHERE name = ${name} LIMIT 1`)
      const [one, other] = [yield* of("one"), yield* of("other")]
      assert.deepStrictEqual([yield* one, yield* other], [false, false])
      yield* sql`INSERT INTO due_work_test VALUES ('other')`
      assert.deepStrictEqual([yield* one, yield* other], [false, true])
      yield* sql`DELETE FROM due_work_test`
      assert.deepStrictEqual([yield* one, yield* other], [false, false])
    })
  )

  it.effect("is looked for in one statement a second, however many ask", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE SEQUENCE due_work_looks`
      const { watch } = yield* watches(60_000)
      const checks = [
        yield* watch(sql`SELECT nextval('due_work_looks') > 0`),
        yield* watch(sql`SELECT false`),
        yield* watch(sql`SELECT NULL::boolean`)
      ]
      const found = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, at) => at),
        (at) => checks[at % 3] ?? Effect.die("No check"),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(found.slice(0, 3), [true, false, false])
      const [row] = yield* sql<{ readonly looks: number }>`SELECT last_value::int AS looks FROM due_work_looks`
      assert.strictEqual(row?.looks, 1)
    })
  )

  it.effect("counts as due if the look fails, and without the layer", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { watch } = yield* watches(0)
      const check = yield* watch(sql`SELECT true FROM no_such_table`)
      assert.isTrue(yield* check)
      const without = yield* DueWork.DueWork
      assert.isTrue(yield* yield* without.watch(sql`SELECT false`))
    })
  )
})
