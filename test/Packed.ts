import { Effect, FileSystem, Path } from "effect"
import * as Program from "./Program.ts"
import * as Run from "./Run.ts"

/** Packs the package into this folder as for publishing. Returns the file. */
export const into = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(folder, { recursive: true })
  const { code, stderr, stdout } = yield* Program.run("npm", ["pack", "--pack-destination", folder])
  if (code !== 0) return yield* Effect.die(new Error(`npm pack ended with ${code}\n${stdout}\n${stderr}`))
  return path.join(folder, (yield* fs.readDirectory(folder)).find((file) => file.endsWith(".tgz")) ?? "")
})

/** The tarball of the package. It is packed once in a run, because compiling writes into one folder, `dist`. */
export const tarball = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* Run.once("packed", (folder) => Effect.asVoid(into(folder)))
  const [file = ""] = yield* fs.readDirectory(folder)
  return path.join(folder, file)
})
