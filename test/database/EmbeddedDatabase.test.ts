import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import * as EmbeddedDatabase from "../../src/database/EmbeddedDatabase.ts"

const mortal = new URL("../MortalPglite.ts", import.meta.url)

describe("An embedded database whose thread has ended", { timeout: 60_000 }, () => {
  it.live("fails the statement that was under way, and every other at once", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-embedded-" })
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
        yield* Effect.flip(sql`SELECT 'the end'`)
        for (let statement = 0; statement < 3; statement++) {
          yield* Effect.flip(Effect.timeout(sql`SELECT 1`, "5 seconds")).pipe(
            Effect.tap((error) => Effect.sync(() => assert.strictEqual(error._tag, "SqlError")))
          )
        }
      }).pipe(Effect.provide(EmbeddedDatabase.layer(folder, mortal).pipe(Layer.provide(Logger.layer([])))))
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
