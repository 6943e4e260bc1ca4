import { NodeServices } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as Backup from "./Backup.ts"

describe("A backup of a service with the embedded database", () => {
  it.live("from a copy of DATA_DIR after a stop runs in another folder", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-backup-" })
      yield* Backup.goesOn({ DATA_DIR: `${folder}/before` }, (inlet) =>
        Effect.gen(function* () {
          yield* inlet.signal("SIGTERM")
          yield* inlet.ending
          yield* fs.copy(`${folder}/before`, `${folder}/after`)
          return { DATA_DIR: `${folder}/after` }
        }).pipe(Effect.orDie)
      )
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
