import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { Migrator } from "effect/sql"
import * as Disk from "../../prove/Disk.ts"
import * as StorageFailure from "../../src/start/StorageFailure.ts"
import * as CommandLine from "../CommandLine.ts"

const failed = (text: string) =>
  new Migrator.MigrationError({ kind: "Failed", message: "Migration 3 failed", cause: new Error(text) })

describe("The line of a start without storage", () => {
  it("has one make room if the disk fills during the migrations", () => {
    const cause = 'could not extend file "base/5/16384": No space left on device'
    const line = `The database could not be migrated: ${cause}. Make room on its disk, or free inodes (df -i)`
    assert.strictEqual(StorageFailure.ofMigration(failed(cause), true), `DATA_DIR: ${line}`)
    assert.strictEqual(StorageFailure.ofMigration(failed(cause), false), `DATABASE_URL: ${line}`)
  })

  it("names DATA_DIR if an embedded database cannot be migrated, without advice about its disk", () => {
    assert.strictEqual(
      StorageFailure.ofMigration(failed("syntax error"), true),
      "DATA_DIR: The database could not be migrated: syntax error"
    )
  })

  it("has one make room for a folder without space or inodes, and name another for other failures", () => {
    assert.strictEqual(
      StorageFailure.ofFolder(new Error("write", { cause: new Error("ENOSPC: no space left on device, write") })),
      "DATA_DIR or RAW_DIR: ENOSPC: no space left on device, write. Make room on its disk, or free inodes (df -i)"
    )
    assert.match(
      StorageFailure.ofFolder(new Error("EACCES: permission denied")),
      /Name a folder that the user of the service may write in$/
    )
  })

  it.live(
    "is the same for a new DATA_DIR on a disk that is full",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const disk = yield* Disk.make(`${yield* fs.makeTempDirectoryScoped({ prefix: "inlet-full-" })}/disk`)
        if (!disk.isMounted) return
        yield* disk.full
        const { code, stderr } = yield* CommandLine.run(["start"], {
          DATA_DIR: `${disk.folder}/data`,
          LOG_LEVEL: "error"
        })
        assert.strictEqual(code, 1)
        assert.match(
          stderr,
          /^Inlet can't start: DATA_DIR.*ENOSPC[^\n]*\. Make room on its disk, or free inodes \(df -i\)\n$/
        )
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    30_000
  )
})
