import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { build, type Plugin } from "esbuild"
import { once } from "./Run.ts"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Kept between runs, because Node's compile cache knows code by its path. */
const folder = path("../node_modules/.cache/inlet-test")

/** Node would compile a `.js` file twice, because no package.json says that it is a module. */
const ending = ".mjs"

/** Node stores what it has compiled at the exit of a process, and tests kill most processes. */
const keepsCompiled =
  'import("node:module").then(({ flushCompileCache }) => setTimeout(flushCompileCache, 5_000).unref())'

const scripts = {
  main: path("../src/main.ts"),
  cli: path("../src/cli/main.ts"),
  PgliteThread: path("../src/database/PgliteThread.ts"),
  ParserThread: path("../src/reading/ParserThread.ts")
}

/** Keeps references to files beside a source, except thread scripts, which are bundled too. */
const sameFiles: Plugin = {
  name: "same-files",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/src\/.*\.ts$/ }, (source) => {
      const url = JSON.stringify(pathToFileURL(source.path).href)
      const contents = readFileSync(source.path, "utf8").replace(
        /(?:new URL\("\.\/(\w+)\.ts", )?import\.meta\.url/g,
        (_, script?: string) => (script === undefined ? url : `new URL("./${script}${ending}", import.meta.url`)
      )
      return { contents, loader: "ts" }
    })
}

/** Leaves all packages but Effect in node_modules, and two API viewers of Effect that the service never serves. */
const packages: Plugin = {
  name: "packages",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ kind, path }) =>
      kind === "entry-point" || /^@?effect(\/|$)/.test(path) ? undefined : { path, external: true }
    )
    onResolve({ filter: /\/httpApi(Scalar|Swagger)\.js$/ }, ({ path }) => ({ path, external: true }))
  }
}

/**
 * The script of the service or of `inlet …`, bundled with Effect into one file, once in a run. Importing 1,300 modules
 * takes a fourth of the CPU time of starting the service, and half of that of running a command.
 */
export const script = Effect.fnUntraced(
  function* (name: "main" | "cli") {
    yield* once("service-bundle", (done) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { outputFiles } = yield* Effect.promise(() =>
          build({
            entryPoints: scripts,
            outdir: folder,
            outExtension: { ".js": ending },
            write: false,
            bundle: true,
            // Imports of a function stay imports, so that a process loads what it uses.
            splitting: true,
            format: "esm",
            platform: "node",
            target: "esnext",
            legalComments: "none",
            logLevel: "silent",
            plugins: [sameFiles, packages]
          })
        )
        yield* fs.makeDirectory(folder, { recursive: true })
        // Renamed, because services of a concurrent run read the files.
        const partial = yield* fs.makeTempDirectoryScoped({ directory: folder })
        yield* Effect.forEach(outputFiles, ({ path, text }) => {
          const written = join(partial, basename(path))
          const isEntry = basename(path, ending) in scripts
          return Effect.andThen(
            fs.writeFileString(written, isEntry ? `${text}${keepsCompiled}\n` : text),
            fs.rename(written, path)
          )
        })
        yield* fs.writeFileString(done, "")
      }).pipe(Effect.scoped)
    )
    return `${folder}/${name}${ending}`
  },
  Effect.provide(NodeServices.layer),
  Effect.orDie
)
