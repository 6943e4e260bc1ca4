import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, FileSystem, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { SecretsKey } from "../../src/workspaces/SecretsKey.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** A process whose key is in this folder. */
const withFolder = (folder: string) =>
  SecretsKey.layer.pipe(
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: folder }))),
    Layer.fresh
  )

/** A process whose key is this byte, 32 times. */
const withKey = (byte: number) =>
  SecretsKey.layer.pipe(
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({ SECRETS_KEY: Buffer.alloc(32, byte).toString("base64"), DATA_DIR: "unused" })
      )
    ),
    Layer.fresh
  )

const secret = Redacted.make("whsec_a secret")

layer(TestDatabase.layer, { excludeTestServices: true })("SecretsKey", (it) => {
  it.effect("decrypts its ciphertext, also in a later process with the same key", () =>
    Effect.gen(function* () {
      const sealed = yield* SecretsKey.use((key) => key.seal(secret, "ada")).pipe(Effect.provide(withKey(1)))
      const opened = yield* SecretsKey.use((key) => key.open(sealed, "ada")).pipe(Effect.provide(withKey(1)))
      assert.strictEqual(Redacted.value(opened), "whsec_a secret")
    })
  )

  it.effect("encrypts the same secret differently every time", () =>
    Effect.gen(function* () {
      const key = yield* SecretsKey
      const one = yield* key.seal(secret, "ada")
      const other = yield* key.seal(secret, "ada")
      assert.notDeepEqual(one, other)
      assert.isFalse(Buffer.from(one).includes("whsec_"))
    }).pipe(Effect.provide(withKey(1)))
  )

  it.effect("rejects a secret of another workspace and a modified one", () =>
    Effect.gen(function* () {
      const key = yield* SecretsKey
      const sealed = yield* key.seal(secret, "ada")
      assert.isTrue(Exit.hasDies(yield* Effect.exit(key.open(sealed, "bob"))))
      for (const at of [0, 12, sealed.length - 1]) {
        const tampered = sealed.map((byte, index) => (index === at ? byte ^ 1 : byte))
        assert.isTrue(Exit.hasDies(yield* Effect.exit(key.open(tampered, "ada"))))
      }
    }).pipe(Effect.provide(withKey(1)))
  )

  it.effect("refuses to start with a key other than the database's, with the next step", () =>
    Effect.gen(function* () {
      yield* SecretsKey.use((key) => key.seal(secret, "ada")).pipe(Effect.provide(withKey(1)))
      const error = yield* Effect.flip(Effect.scoped(Layer.build(withKey(2))))
      assert.strictEqual(error._tag, "WrongSecretsKey")
      assert.match(error.message, /^SECRETS_KEY\b/)
      const sql = yield* SqlClient.SqlClient
      assert.lengthOf(yield* sql`SELECT 1 FROM secrets_key_check`, 1)
    })
  )

  it.effect("refuses to start without the lost key file of a used database, and makes no other key", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-key-" })
      yield* SecretsKey.use((key) => key.seal(secret, "ada")).pipe(Effect.provide(withKey(1)))
      const start = Effect.flip(Effect.scoped(Layer.build(withFolder(folder))))
      assert.deepInclude(yield* start, {
        _tag: "WrongSecretsKey",
        message: `${folder}/secrets-key is missing. Restore it from a backup, or set SECRETS_KEY`
      })
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [])

      yield* fs.writeFileString(`${folder}/secrets-key`, Buffer.alloc(32, 2).toString("base64"))
      assert.match((yield* start).message, /\/secrets-key: The database was written with another key\./)
    }).pipe(Effect.scoped)
  )
})
