import { brotliCompressSync, constants } from "node:zlib"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { PGlite } from "@electric-sql/pglite"
import { Console, Effect, FileSystem, Path } from "effect"
import * as EmbeddedDatabase from "../src/database/EmbeddedDatabase.ts"
import * as InitialDatabase from "../src/database/InitialDatabase.ts"

/** Makes the image that the embedded database begins with, for the PGlite that is installed, and removes all others. */
Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-image-" })
  yield* EmbeddedDatabase.initdb(folder)
  const tar = yield* Effect.promise(() => tarOf(folder))

  const file = InitialDatabase.fileOf(yield* InitialDatabase.installed)
  const others = (yield* fs.readDirectory(path.dirname(file))).filter((name) => name.endsWith(".tar.br"))
  yield* Effect.forEach(others, (name) => fs.remove(path.join(path.dirname(file), name)))
  const image = brotliCompressSync(tar, {
    params: {
      // The three databases of a new server are all but the same: the window reaches from one to the next.
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: tar.byteLength
    }
  })
  yield* fs.writeFile(file, image)
  yield* Console.log(`${file}: ${image.byteLength} bytes`)
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer), NodeRuntime.runMain)

/** PostgreSQL does not run meanwhile, so what is packed is a server that was shut down in order. */
const tarOf = (folder: string) =>
  PGlite.create({ dataDir: folder, noInitDb: true }).then((database) =>
    database
      .dumpDataDir("none")
      .then((file) => file.bytes())
      .finally(() => database.close())
  )
