import { brotliCompressSync, constants } from "node:zlib"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path } from "effect"
import * as InitialDatabase from "../src/database/InitialDatabase.ts"
import { WirePglite } from "../src/database/WirePglite.ts"

// Two thirds of a new server. Nothing connects to them, and nothing is made from them.
const withoutTemplates = ["template0", "template1"].flatMap((name) => [
  `ALTER DATABASE ${name} IS_TEMPLATE false`,
  `DROP DATABASE ${name}`
])

/** After a checkpoint nothing changes the files until they are read. */
const newDatabase = () =>
  WirePglite.open({}).then((database) =>
    [...withoutTemplates, "CHECKPOINT"]
      .reduce<Promise<unknown>>((before, statement) => before.then(() => database.exec(statement)), Promise.resolve())
      .then(() => database.dumpDataDir("none"))
      .then((file) => file.bytes())
      .finally(() => database.close())
  )

/** Creates the image of the embedded database for the installed PGlite, and removes all others. */
Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const tar = yield* Effect.promise(newDatabase)

  const file = InitialDatabase.fileOf(yield* InitialDatabase.installed)
  const others = (yield* fs.readDirectory(path.dirname(file))).filter((name) => name.endsWith(".tar.br"))
  yield* Effect.forEach(others, (name) => fs.remove(path.join(path.dirname(file), name)))
  const image = brotliCompressSync(tar, {
    params: {
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: tar.byteLength
    }
  })
  yield* fs.writeFile(file, image)
  yield* Console.log(`${file}: ${image.byteLength} bytes`)
}).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
