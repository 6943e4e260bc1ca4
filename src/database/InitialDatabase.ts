import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { brotliDecompressSync } from "node:zlib"
import { Duration, Effect, FileSystem, Option, Path, Schema } from "effect"
import * as DurableFolder from "../files/DurableFolder.ts"
import * as Tar from "./Tar.ts"

/** The embedded database can neither be opened nor created in this folder. */
export class FolderUnusable extends Schema.TaggedError<FolderUnusable>()("FolderUnusable", {
  message: Schema.String
}) {}

const decodePackage = Schema.decodeEffect(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

/** The version of the installed PGlite. */
export const installed = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const entry = createRequire(import.meta.url).resolve("@electric-sql/pglite")
  const { version } = yield* decodePackage(yield* fs.readFileString(path.join(path.dirname(entry), "../package.json")))
  return version
}).pipe(Effect.orDie)

/** The file name of the image for a version of PGlite. */
export const fileOf = (version: string) =>
  fileURLToPath(new URL(`./initial-database-${version}.tar.br`, import.meta.url))

/**
 * Room for the unpacked image as one piece. Pieces of the usual 16 KiB would leave as much memory again to the process,
 * because malloc keeps what is freed between other blocks.
 */
const largestImage = 64 * 1_024 * 1_024

/**
 * The result of initdb with the installed PGlite as a tar archive, or undefined for another version. `npm run image`
 * writes it.
 */
export const image = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const file = fileOf(yield* installed)
  if (!(yield* fs.exists(file))) return Option.none()
  return Option.some(brotliDecompressSync(yield* fs.readFile(file), { chunkSize: largestImage }))
})

/**
 * Ensures a database in `folder`. An existing one stays unchanged. A new one comes from the image, or without an
 * image from `initdb`. It appears completely or not at all, even if the process or the machine crashes.
 */
export const ensure = Effect.fn("InitialDatabase.ensure")(function* <E, R>(
  folder: string,
  initdb: (folder: string) => Effect.Effect<void, E, R>,
  prepared: typeof image = image
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // PostgreSQL writes this file first, and requires it in a database.
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
    if (Option.isSome(tar)) {
      yield* unpack(tar.value, unfinished)
      // The garbage collector sees little of its 31 MB, and would keep them for minutes.
      tar.value.buffer.transfer(0)
    } else yield* initdb(unfinished)
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

/** Unpacks an archive into an empty folder that only its user can read. */
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
