import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Path } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ChildProcess } from "effect/process"
import * as ConsoleBundle from "../src/http/console/ConsoleBundle.ts"

// Compiles the service for the package and the image. Node does not strip types under node_modules, and stripping
// them costs 50 MB of memory.

/** Files that are read at run time: pages, styles, and the image of the embedded database. */
const isAsset = (file: string) => /\.(html|css|js|svg|br)$/.test(file)

const run = Effect.fnUntraced(function* (command: string, ...args: ReadonlyArray<string>) {
  const handle = yield* ChildProcess.make(command, args, { stdout: "inherit", stderr: "inherit" })
  const code = yield* handle.exitCode
  if (code !== 0) return yield* Effect.die(new Error(`${command} ${args.join(" ")} ended with ${code}`))
}, Effect.scoped)

interface Options {
  readonly folder: string
  readonly withoutTypes: boolean
}

const compile = Effect.fn(function* ({ folder, withoutTypes }: Options) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (yield* fs.exists(path.join(folder, "package.json"))) {
    return yield* Effect.die(new Error(`${folder} is a package. Name a folder for compiled code only`))
  }
  yield* fs.remove(folder, { recursive: true, force: true })
  const scripts = ["-p", "tsconfig.build.json", "--outDir", folder]
  const omitted = withoutTypes ? ["--declaration", "false", "--noCheck"] : []
  yield* run(process.execPath, "node_modules/typescript/bin/tsc", ...scripts, ...omitted)

  const files = (yield* fs.readDirectory("src", { recursive: true })).filter((file) => !file.startsWith("console/"))
  for (const file of files.filter(isAsset)) {
    yield* fs.makeDirectory(path.join(folder, "src", path.dirname(file)), { recursive: true })
    yield* fs.copyFile(path.join("src", file), path.join(folder, "src", file))
  }

  const bundle = yield* ConsoleBundle.build
  yield* fs.makeDirectory(path.join(folder, "src/console"), { recursive: true })
  yield* fs.writeFileString(path.join(folder, "src/console", ConsoleBundle.files.script), bundle.script)
  yield* fs.writeFileString(path.join(folder, "src/console", ConsoleBundle.files.styles), bundle.styles)

  // The compiler follows imports only, and thread scripts are named by URLs.
  for (const file of (yield* fs.readDirectory(folder, { recursive: true })).filter((file) => file.endsWith(".js"))) {
    const compiled = path.join(folder, file)
    const text = yield* fs.readFileString(compiled)
    const rewritten = text.replace(/(new URL\("\.[^"]+)\.ts"/g, '$1.js"')
    if (rewritten !== text) yield* fs.writeFileString(compiled, rewritten)
    for (const [, script = ""] of rewritten.matchAll(/new URL\("(\.[^"]+\.js)"/g)) {
      const target = path.join(path.dirname(compiled), script)
      if (!(yield* fs.exists(target)))
        return yield* Effect.die(new Error(`${compiled} refers to ${target}, which does not exist`))
    }
  }
})

const folder = Argument.String("folder").pipe(
  Argument.withDescription("output folder, whose content is replaced"),
  Argument.withDefault("dist")
)

// Declarations take nine tenths of the compiler's time, and only users of the package need them.
const withoutTypes = Flag.Boolean("without-types").pipe(
  Flag.withDefault(false),
  Flag.withDescription("write no declarations and check no types, as for an image")
)

Command.make("compile", { folder, withoutTypes }, compile).pipe(
  Command.run({ version: "1" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
