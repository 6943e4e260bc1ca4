import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import * as LocalSecret from "../../src/settings/LocalSecret.ts"

layer(Layer.merge(NodeServices.layer, NodeCrypto.layer), { excludeTestServices: true })("LocalSecret", (it) => {
  it.effect("creates 32 bytes once in a file with mode 600", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = `${yield* fs.makeTempDirectoryScoped()}/data`
      const made = Redacted.value(yield* LocalSecret.readOrMake(folder, "secrets-key"))
      assert.strictEqual(Buffer.from(made, "base64").length, 32)
      assert.strictEqual(Redacted.value(yield* LocalSecret.readOrMake(folder, "secrets-key")), made)
      assert.strictEqual((yield* fs.stat(`${folder}/secrets-key`)).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* fs.readDirectory(folder), ["secrets-key"])
    }).pipe(Effect.scoped)
  )

  it.effect("rejects an empty file with the next step", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/secrets-key`, "\n")
      const error = yield* Effect.flip(LocalSecret.readOrMake(folder, "secrets-key"))
      assert.deepInclude(error, {
        _tag: "SecretUnusable",
        message: `${folder}/secrets-key is empty. Restore it from a backup. Without one, move ${folder} away to start anew`
      })
    }).pipe(Effect.scoped)
  )

  it.effect("has the operator delete an empty token, which loses no mail", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/admin-token`, "")
      const { message } = yield* Effect.flip(LocalSecret.readOrMake(folder, "admin-token"))
      assert.strictEqual(message, `${folder}/admin-token is empty. Delete it, and the next start makes a new one`)
    }).pipe(Effect.scoped)
  )

  it.effect("returns the same complete secret to concurrent callers", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const made = yield* Effect.forEach(
        Array.from({ length: 32 }),
        () => LocalSecret.readOrMake(folder, "secrets-key"),
        {
          concurrency: "unbounded"
        }
      )
      assert.strictEqual(new Set(made.map(Redacted.value)).size, 1)
      assert.strictEqual(Buffer.from(Redacted.value(made[0] ?? Redacted.make("")), "base64").length, 32)
    }).pipe(Effect.scoped)
  )
})
