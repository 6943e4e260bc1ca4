import { Effect, FileSystem, Path } from "effect"

/** Creates a folder with mode 700 and its missing parents, and syncs each new name, so that it survives a power cut. */
export const make = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const named = path.resolve(folder)
  const missing: Array<string> = []
  for (let name = named; !(yield* fs.exists(name)); name = path.dirname(name)) missing.push(name)
  // One by one, because Node's recursive creation never ends where nothing can be created, as in /proc.
  for (const name of missing.toReversed()) {
    yield* fs
      .makeDirectory(name, { mode: 0o700 })
      .pipe(Effect.catchReason("PlatformError", "AlreadyExists", () => Effect.void))
    yield* sync(path.dirname(name))
  }
  // Its creator may have crashed before syncing the name. Folders above may belong to others.
  if (missing.length === 0) yield* Effect.ignore(sync(path.dirname(named)))
})

/** Syncs the names in a folder, or the bytes of a file. */
export const sync = (path: string) =>
  FileSystem.FileSystem.use((fs) => Effect.scoped(Effect.flatMap(fs.open(path, { flag: "r" }), (file) => file.sync)))
