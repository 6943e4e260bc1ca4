import { Effect, FileSystem, Path } from "effect"

/** Makes a folder for its user alone, with those above it, and syncs each new name: a loss of power takes none of them. */
export const make = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const named = path.resolve(folder)
  const missing: Array<string> = []
  for (let name = named; !(yield* fs.exists(name)); name = path.dirname(name)) missing.push(name)
  // One by one: where nothing can be made, as in /proc, Node's own way through all of them never ends.
  for (const name of missing.toReversed()) {
    yield* fs
      .makeDirectory(name, { mode: 0o700 })
      .pipe(Effect.catchReason("PlatformError", "AlreadyExists", () => Effect.void))
    yield* sync(path.dirname(name))
  }
  // Its creator may have crashed before syncing the name. Folders above may belong to others.
  if (missing.length === 0) yield* Effect.ignore(sync(path.dirname(named)))
})

/** The names in a folder, as they are, are on the disk; or the bytes of a file. */
export const sync = (path: string) =>
  FileSystem.FileSystem.use((fs) => Effect.scoped(Effect.flatMap(fs.open(path, { flag: "r" }), (file) => file.sync)))
