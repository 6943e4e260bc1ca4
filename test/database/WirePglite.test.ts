import { fdatasyncSync, fsyncSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Option } from "effect"
import * as InitialDatabase from "../../src/database/InitialDatabase.ts"
import { WirePglite } from "../../src/database/WirePglite.ts"
import { heldBytes } from "../HeldBytes.ts"

const database = Effect.acquireRelease(
  Effect.flatMap(InitialDatabase.image, (image) =>
    Effect.promise(() => WirePglite.open({ loadDataDir: new Blob([Option.getOrThrow(image)]) }))
  ),
  (database) => Effect.promise(() => database.close())
)

/** The protocol message of a statement without parameters. */
const query = (text: string) => {
  const message = Buffer.from(`Q\0\0\0\0${text}\0`)
  message.writeInt32BE(message.byteLength - 1, 1)
  return message
}

describe("PGlite behind the wire protocol", () => {
  it.live("releases the memory of each answer", () =>
    Effect.gen(function* () {
      const pglite = yield* database
      const ask = Effect.promise(() => pglite.exchange(query("SELECT g, 'a row' FROM generate_series(1, 100) AS g")))
      assert.include(Buffer.from(yield* ask).toString("latin1"), "SELECT 100")

      const before = yield* heldBytes
      yield* Effect.replicateEffect(ask, 2_000, { discard: true })
      assert.isBelow((yield* heldBytes) - before, 5_000_000)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("reports no commit after a failed sync, and keeps earlier commits", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-pglite-" })
      yield* InitialDatabase.unpack(Option.getOrThrow(yield* InitialDatabase.image), folder)
      let isBroken = false
      const calls = {
        file: (descriptor: number) => {
          if (isBroken) throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" })
          fdatasyncSync(descriptor)
        },
        folder: fsyncSync
      }
      const ask = (database: WirePglite, text: string) =>
        Effect.map(
          Effect.tryPromise(() => database.exchange(query(text))),
          (answer) => Buffer.from(answer).toString("latin1")
        )

      const first = yield* Effect.promise(() => WirePglite.openIn(folder, calls))
      yield* ask(first, "CREATE TABLE kept AS SELECT 'before' AS text")
      isBroken = true
      assert.isFalse(first.isLost)
      yield* Effect.flip(ask(first, "INSERT INTO kept VALUES ('lost')"))
      isBroken = false
      assert.isTrue(first.isLost)
      yield* Effect.flip(ask(first, "INSERT INTO kept VALUES ('after')"))

      const second = yield* Effect.acquireRelease(
        Effect.promise(() => WirePglite.openIn(folder)),
        (database) => Effect.promise(() => database.close())
      )
      assert.include(yield* ask(second, "SELECT count(*) || ' before' FROM kept WHERE text = 'before'"), "1 before")
      assert.include(yield* ask(second, "SELECT count(*) || ' after' FROM kept WHERE text = 'after'"), "0 after")
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
