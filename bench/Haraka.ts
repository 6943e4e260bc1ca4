import { Effect, FileSystem, Path } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { root } from "../test/Program.ts"

const version = "3.3.4"
// The other contestants parse with the same mailparser.
const libmime = "5.4.6"

/** The folder of Haraka, which is installed on first use. */
export const installed = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = path.join(root, "node_modules", ".cache", `haraka-${version}`)
  const haraka = path.join(folder, "node_modules", "Haraka")
  if (yield* fs.exists(haraka)) return haraka
  yield* fs.makeDirectory(folder, { recursive: true })
  const options = ["--no-save", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"]
  yield* spawner.string(
    ChildProcess.make("npm", ["install", "--prefix", folder, ...options, `Haraka@${version}`, `libmime@${libmime}`], {
      extendEnv: true,
      stdin: "ignore",
      stderr: "ignore"
    })
  )
  return haraka
})

/** Writes a configuration with only our plugin, without DNS look-ups. */
export const configure = Effect.fnUntraced(function* (haraka: string, home: string, port: number) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files = {
    "config/smtp.ini": `listen=127.0.0.1:${port}\nnodes=0\npublic_ip=127.0.0.1\n`,
    // Haraka has no other defaults for these.
    "config/connection.ini": yield* fs.readFileString(path.join(haraka, "config", "connection.ini")),
    "config/log.ini": "[main]\nlevel=error\n",
    "config/loglevel": "ERROR\n",
    "config/plugins": "bench\n",
    "config/me": "bench.example\n",
    "plugins/bench.js": yield* fs.readFileString(path.join(import.meta.dirname, "contestants", "haraka.cjs"))
  }
  for (const folder of ["config", "plugins", "mail", "queue"]) yield* fs.makeDirectory(path.join(home, folder))
  yield* Effect.forEach(Object.entries(files), ([name, text]) => fs.writeFileString(path.join(home, name), text))
})
