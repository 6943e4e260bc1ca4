import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { brotliDecompressSync } from "node:zlib"
import { Duration, Effect, FileSystem, Option, Path, Schema } from "effect"
import * as DurableFolder from "../files/DurableFolder.ts"
import * as Tar from "./Tar.ts"

/** The embedded database can neither be opened in this folder nor be made there. */
export class FolderUnusable extends Schema.TaggedError<FolderUnusable>()("FolderUnusable", {
  message: Schema.String
}) {}

const decodePackage = Schema.decodeEffect(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

/** The version of PGlite that is installed. */
export const installed = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const entry = createRequire(import.meta.url).resolve("@electric-sql/pglite")
  const { version } = yield* decodePackage(yield* fs.readFileString(path.join(path.dirname(entry), "../package.json")))
  return version
}).pipe(Effect.orDie)

/** What the image for a version of PGlite is called. */
export const fileOf = (version: string) =>
  fileURLToPath(new URL(`./initial-database-${version}.tar.br`, import.meta.url))

/** What initdb makes with the installed PGlite, as a tar archive; `npm run image` writes it. None is kept for another version. */
export const image = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const file = fileOf(yield* installed)
  return (yield* fs.exists(file)) ? Option.some(brotliDecompressSync(yield* fs.readFile(file))) : Option.none()
})

/**
 * Sees to it that there is a database in `folder`: what is there stays as it is,
 * and a new one is the image, or where there is none what `initdb` makes. A new
 * one appears whole or not at all, whenever the process or the machine dies.
 */
export const ensure = Effect.fn("InitialDatabase.ensure")(function* <E, R>(
  folder: string,
  initdb: (folder: string) => Effect.Effect<void, E, R>,
  prepared: typeof image = image
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // PostgreSQL writes it at first, and takes no folder without it for a database.
  if (yield* fs.exists(path.join(folder, "PG_VERSION"))) return
  if ((yield* fs.exists(folder)) && (yield* fs.readDirectory(folder)).length > 0) {
    return yield* new FolderUnusable({
      message: `${folder} is not empty and contains no database. Move its files away`
    })
  }

  const tar = yield* prepared
  yield* Effect.logInfo(
    Option.isSome(tar)
      ? `Making the embedded database in ${folder}`
      : `Making the embedded database in ${folder}. There is no image of it for PGlite ${yield* installed} (npm run image), so this takes some seconds`
  )
  const unfinished = `${folder}.unfinished`
  const [took] = yield* Effect.gen(function* () {
    yield* fs.remove(unfinished, { recursive: true, force: true })
    yield* fs.makeDirectory(unfinished, { mode: 0o700 })
    yield* Option.isSome(tar) ? unpack(tar.value, unfinished) : initdb(unfinished)
    const names = yield* fs.readDirectory(unfinished, { recursive: true })
    yield* Effect.forEach([unfinished, ...names.map((name) => path.join(unfinished, name))], DurableFolder.sync, {
      discard: true,
      concurrency: 16
    })
    yield* fs.rename(unfinished, folder)
    yield* DurableFolder.sync(path.dirname(folder))
  }).pipe(Effect.timed)
  yield* Effect.logInfo(`Made the embedded database in ${Duration.toMillis(took).toFixed(0)} ms`)
})

/** Puts what is in an archive into an empty folder, for its user alone. */
export const unpack = Effect.fnUntraced(function* (tar: Uint8Array, folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const entries = Tar.entries(tar)
  for (const { isFolder, name } of entries) {
    if (isFolder) yield* fs.makeDirectory(path.join(folder, name), { mode: 0o700 })
  }
  const files = entries.filter(({ isFolder }) => !isFolder)
  yield* Effect.forEach(
    files,
    ({ content, name }) => fs.writeFile(path.join(folder, name), content, { flag: "wx", mode: 0o600 }),
    { discard: true, concurrency: 16 }
  )
})
