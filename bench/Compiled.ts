import { Context, Effect, FileSystem, Layer, Path } from "effect"
import * as Program from "../test/Program.ts"

/**
 * The compiled service, as in the package and the image. A clone runs the same code with its types stripped by Node.
 */
export class Compiled extends Context.Service<Compiled, { readonly folder: string }>()("inlet/bench/Compiled") {
  static readonly layer = Layer.effect(
    Compiled,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-bench-" })
      const of = (name: string) => path.join(Program.root, name)
      const { code, stderr, stdout } = yield* Program.run(process.execPath, [
        of("scripts/compile.ts"),
        "--without-types",
        path.join(folder, "dist")
      ])
      if (code !== 0) return yield* Effect.die(new Error(`compiling ended with ${code}\n${stdout}\n${stderr}`))
      yield* fs.copyFile(of("start.mjs"), path.join(folder, "start.mjs"))
      yield* fs.copyFile(of("package.json"), path.join(folder, "package.json"))
      yield* fs.symlink(of("node_modules"), path.join(folder, "node_modules"))
      return { folder }
    })
  )
}
