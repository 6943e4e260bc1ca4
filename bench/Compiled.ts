import { Context, Effect, FileSystem, Layer, Path } from "effect"
import * as Program from "../test/Program.ts"

/** Compiles the checkout in this folder into a temporary folder. The folder is removed with the scope. */
export const compile = Effect.fnUntraced(function* (checkout: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-bench-" })
  const of = (name: string) => path.resolve(checkout, name)
  const compiler = ["scripts/compile.ts", "--without-types", path.join(folder, "dist")]
  const { code, stderr, stdout } = yield* Program.run(process.execPath, compiler, { cwd: checkout })
  if (code !== 0) return yield* Effect.die(new Error(`compiling ended with ${code}\n${stdout}\n${stderr}`))
  yield* fs.copyFile(of("start.mjs"), path.join(folder, "start.mjs"))
  yield* fs.copyFile(of("package.json"), path.join(folder, "package.json"))
  yield* fs.symlink(of("node_modules"), path.join(folder, "node_modules"))
  return { folder }
})

/**
 * The compiled service, as in the package and the image. A clone runs the same code with its types stripped by Node.
 */
export class Compiled extends Context.Service<Compiled, { readonly folder: string }>()("inlet/bench/Compiled") {
  static readonly layer = Layer.effect(Compiled, compile(Program.root))
}
