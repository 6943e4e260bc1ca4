import { inject } from "@effect/vitest"
import { Effect, FileSystem, Layer, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../src/database/Database.ts"
import * as EmbeddedDatabase from "../src/database/EmbeddedDatabase.ts"
import * as InitialDatabase from "../src/database/InitialDatabase.ts"
import { WirePglite } from "../src/database/WirePglite.ts"
import { MemoryFiles } from "./MemoryFiles.ts"
import { once } from "./Run.ts"
import * as TestPostgres from "./TestPostgres.ts"

/** An embedded database in memory, initialized from a tar archive. */
export const inMemory = (tar: Option.Option<Uint8Array>) =>
  Effect.acquireRelease(
    Effect.promise(() => WirePglite.open(Option.isSome(tar) ? { fs: new MemoryFiles(tar.value) } : {})),
    (database) => Effect.promise(() => database.close())
  )

/** The embedded database with all migrations, as a tar archive. */
export const image = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const file = yield* once("migrated.tar", (file) =>
    Effect.gen(function* () {
      const database = yield* inMemory(yield* InitialDatabase.image)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CHECKPOINT`
      }).pipe(Effect.provide(Database.migrations.pipe(Layer.provideMerge(EmbeddedDatabase.layerOf(database)))))
      const dump = yield* Effect.promise(() => database.dumpDataDir("none").then((dump) => dump.bytes()))
      yield* fs.writeFile(file, dump)
    }).pipe(Effect.scoped)
  )
  return yield* fs.readFile(file)
})

/** The name of a database on the server with all migrations. */
export const template = Effect.fnUntraced(function* (server: Redacted.Redacted) {
  const { template } = inject("run")
  yield* once("template", (file) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* TestPostgres.administer(server, `CREATE DATABASE ${template}`)
      yield* Layer.build(
        Database.migrations.pipe(Layer.provide(Database.layerPostgres(TestPostgres.urlOf(server, template))))
      )
      yield* fs.writeFileString(file, template)
    }).pipe(Effect.scoped)
  )
  return template
})
