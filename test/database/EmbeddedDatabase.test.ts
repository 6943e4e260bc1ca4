import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, FileSystem, Layer, Logger, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as Checkpoints from "../../src/database/Checkpoints.ts"
import * as EmbeddedDatabase from "../../src/database/EmbeddedDatabase.ts"
import { eventually } from "../Eventually.ts"

const mortal = new URL("../MortalPglite.ts", import.meta.url)

describe("An embedded database with a terminated thread", () => {
  it.live("fails the running statement, reopens, and keeps committed data", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-embedded-" })
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE kept (number int)`
        for (let round = 1; round <= 2; round++) {
          yield* sql`INSERT INTO kept VALUES (${round})`
          yield* Effect.flip(sql`INSERT INTO kept SELECT 0 WHERE 'the end' <> ''`)
          const failure = yield* Effect.flip(Effect.timeout(sql`SELECT 1`, "5 seconds"))
          assert.strictEqual(failure._tag, "SqlError")
          const rows = yield* eventually(
            Effect.option(sql<{ readonly number: number }>`SELECT number FROM kept ORDER BY number`),
            Option.isSome
          )
          assert.deepStrictEqual(
            Option.getOrThrow(rows).map(({ number }) => number),
            Array.range(1, round)
          )
        }
      }).pipe(Effect.provide(EmbeddedDatabase.layer(folder, mortal).pipe(Layer.provide(Logger.layer([])))))
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

describe("A closed embedded database", () => {
  it.live("does not reopen for a statement that is still running", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-embedded-" })
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => void logged.push(...[message].flat()))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`SELECT 1`
        yield* Effect.forkScoped(Effect.exit(sql`SELECT 'no answer'`))
        yield* Effect.sleep("100 millis")
      }).pipe(
        Effect.scoped,
        Effect.provide(EmbeddedDatabase.layer(folder, mortal).pipe(Layer.provide(Logger.layer([logger]))))
      )
      assert.notInclude(logged, "The embedded database stopped and is reopened")
      assert.isNotEmpty(logged)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

describe("The log of an embedded database", () => {
  it.live("restarts at a checkpoint once it exceeds its size, not only at a stop", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-embedded-" })
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const redo = sql<{ readonly at: string }>`SELECT redo_lsn::text AS at FROM pg_control_checkpoint()`
        const before = yield* redo
        yield* sql`CREATE TABLE filler AS SELECT repeat(md5(number::text), 60) FROM generate_series(1, 3_000) AS number`
        assert.deepStrictEqual(yield* redo, before)
        yield* eventually(redo, ([row]) => row?.at !== before[0]?.at)
      }).pipe(
        Effect.provide(EmbeddedDatabase.layer(folder).pipe(Layer.provide(Logger.layer([])))),
        Effect.provideService(Checkpoints.LogBytes, 1024 * 1024)
      )
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
