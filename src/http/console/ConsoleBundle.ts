import { fileURLToPath } from "node:url"
import { Data, Effect, FileSystem, Path } from "effect"

/** The browser's code of the console in one file, and its styles. */
export interface Bundle {
  readonly script: string
  readonly styles: string
}

/** The sources could not be bundled. A package and an image contain the bundle already. */
export class BundleFailed extends Data.TaggedError("BundleFailed")<{ readonly cause: unknown }> {}

const folder = fileURLToPath(new URL("../../console/", import.meta.url))

/** The files of a bundle beside its sources, as `npm run prepack` writes them. */
export const files = { script: "console.js", styles: "console.bundle.css" }

/** Bundles the sources in memory with esbuild, which is a development dependency. */
export const build = Effect.tryPromise({
  try: () =>
    import("esbuild").then(({ build }) =>
      build({
        entryPoints: [fileURLToPath(new URL("main.tsx", new URL("../../console/", import.meta.url)))],
        bundle: true,
        minify: true,
        write: false,
        outdir: folder,
        format: "esm",
        target: "es2022",
        jsx: "automatic",
        jsxImportSource: "preact",
        legalComments: "none",
        logLevel: "silent"
      })
    ),
  catch: (cause) => new BundleFailed({ cause })
}).pipe(
  Effect.map(({ outputFiles }): Bundle => {
    const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? ""
    return { script: textOf(".js"), styles: textOf(".css") }
  }),
  Effect.withSpan("ConsoleBundle.build")
)

/** The bundle of a package or an image, or one that is built now from the sources of a clone. */
export const load = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const read = (file: string) => fs.readFileString(path.join(folder, file))
  return yield* Effect.all({ script: read(files.script), styles: read(files.styles) }).pipe(Effect.catch(() => build))
})
