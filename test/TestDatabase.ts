import { NodeServices } from "@effect/platform-node"
import { Context, Effect, FileSystem, Layer, Option, Path, Redacted } from "effect"
import * as Database from "../src/database/Database.ts"
import * as EmbeddedDatabase from "../src/database/EmbeddedDatabase.ts"
import * as InitialDatabase from "../src/database/InitialDatabase.ts"
import * as Platform from "../src/process/Platform.ts"
import * as MigratedDatabase from "./MigratedDatabase.ts"
import { server, TestPostgres } from "./TestPostgres.ts"

const embedded = Layer.unwrap(
  Effect.gen(function* () {
    const image = yield* MigratedDatabase.image
    return EmbeddedDatabase.layerOf(yield* MigratedDatabase.inMemory(Option.some(image)))
  })
).pipe(Layer.provide(NodeServices.layer))

const postgres = (url: Redacted.Redacted) =>
  Layer.unwrap(Effect.map(migratedOn(url), (own) => Database.layerPostgres(own)))

const migratedOn = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const template = yield* MigratedDatabase.template(url)
  const own = yield* Layer.build(TestPostgres.layerOn(url, template))
  return Context.get(own, TestPostgres).url
}, Effect.provide(NodeServices.layer))

/** A migrated database for one test, embedded or on the server of `TEST_DATABASE_URL`. */
export const layer = Layer.unwrap(
  Effect.map(server, (url) => (Option.isSome(url) ? postgres(url.value) : embedded))
).pipe(Layer.provideMerge(Platform.layer))

/** The settings for a process with a migrated database of its own, which an embedded one has in this DATA_DIR. */
export const migratedFor = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const url = yield* server
  if (Option.isSome(url)) return { DATABASE_URL: Redacted.value(yield* migratedOn(url.value)) }
  const files = path.join(folder, "postgres")
  yield* fs.makeDirectory(files)
  yield* InitialDatabase.unpack(yield* MigratedDatabase.image, files)
  return {}
}, Effect.provide(NodeServices.layer))

/** The settings for a process with an empty database, as at the first start. */
export const empty = Effect.gen(function* () {
  const url = yield* server
  if (Option.isNone(url)) return {}
  const own = yield* Effect.map(Layer.build(TestPostgres.layerOn(url.value)), Context.get(TestPostgres))
  return { DATABASE_URL: Redacted.value(own.url) }
})
