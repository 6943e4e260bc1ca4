import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"

describe("The files of a process", () => {
  it.live("are readable only by its user: the embedded database, raw messages and secrets", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      // A folder that the operator created with open permissions.
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })
      yield* fs.chmod(folder, 0o755)
      const inlet = yield* InletProcess.start({ DATA_DIR: folder })
      const { address } = yield* inlet.inbox("http://127.0.0.1:9/")
      yield* Mail.send(inlet.smtpPort, { to: address })

      const [segment = ""] = yield* fs.readDirectory(`${folder}/raw/segments`)
      // The sockets of the folder lock contain nothing.
      const inFolder = (yield* fs.readDirectory(folder)).filter((name) => !/^lock(\.|$)/.test(name))
      assert.includeMembers(inFolder, ["admin-token", "postgres", "raw", "secrets-key"])
      for (const name of [...inFolder, "raw/segments", `raw/segments/${segment}`]) {
        const { mode, type } = yield* fs.stat(`${folder}/${name}`)
        assert.strictEqual((mode & 0o777).toString(8), type === "Directory" ? "700" : "600", name)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
