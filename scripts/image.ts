import { brotliCompressSync, constants } from "node:zlib"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { PGlite } from "@electric-sql/pglite"
import { Console, Effect, FileSystem, Path } from "effect"
import * as EmbeddedDatabase from "../src/database/EmbeddedDatabase.ts"
import * as InitialDatabase from "../src/database/InitialDatabase.ts"

/** Creates the image of the embedded database for the installed PGlite, and removes all others. */
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
      // The three databases of a new server are nearly equal, so the window spans from one to the next.
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: tar.byteLength
    }
  })
  yield* fs.writeFile(file, image)
  yield* Console.log(`${file}: ${image.byteLength} bytes`)
}).pipe(Effect.scoped, Effect.provide(NodeServices.layer), NodeRuntime.runMain)

/** PostgreSQL is shut down at this point, so the files are consistent. */
const tarOf = (folder: string) =>
  PGlite.create({ dataDir: folder, noInitDb: true }).then((database) =>
    database
      .dumpDataDir("none")
      .then((file) => file.bytes())
      .finally(() => database.close())
  )
