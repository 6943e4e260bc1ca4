import { existsSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as InletProcess from "../InletProcess.ts"

describe.runIf(existsSync("/proc/self/status"))("The first start", () => {
  it.live("on the embedded database peaks below 600 MB of memory", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const inlet = yield* InletProcess.start({
        DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })
      })
      // The compiler runs for a while.
      yield* inlet.inbox("http://127.0.0.1:9/")
      const status = yield* fs.readFileString(`/proc/${inlet.pid}/status`)
      const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_000
      assert.isBelow(peak, 600)
    }).pipe(InletProcess.fromSources, Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
