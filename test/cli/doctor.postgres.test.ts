import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import * as Checks from "../../src/cli/commands/Checks.ts"
import * as Database from "../../src/database/Database.ts"
import * as Platform from "../../src/process/Platform.ts"
import { SecretsKey } from "../../src/workspaces/SecretsKey.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { administer } from "../TestPostgres.ts"

const key = (byte: number) => Buffer.alloc(32, byte).toString("base64")

const withSettings = (env: Readonly<Record<string, string>>) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))

/** What the doctor finds of a database with this key. */
const found = (env: Readonly<Record<string, string>>) =>
  Checks.database.pipe(
    Effect.map(({ says, verdict }) => `${verdict} ${says}`),
    Effect.provide(Platform.layer),
    withSettings(env)
  )

/** The URL of a migrated database of the server's. */
const migrated = Effect.map(TestDatabase.migratedFor("/nowhere"), ({ DATABASE_URL = "" }) => DATABASE_URL)

describe("inlet doctor, of a database", () => {
  it.live(
    "that was written with another SECRETS_KEY, names the setting or the missing file, and passes the right one",
    () =>
      Effect.gen(function* () {
        const DATABASE_URL = yield* migrated
        const written = { DATABASE_URL, SECRETS_KEY: key(1) }
        const database = Database.layerPostgres(Redacted.make(DATABASE_URL))
        yield* Layer.build(SecretsKey.layer).pipe(
          Effect.provide(database.pipe(Layer.provideMerge(Platform.layer))),
          withSettings(written)
        )
        assert.match(yield* found(written), /^good PostgreSQL \d/)
        assert.strictEqual(
          yield* found({ ...written, SECRETS_KEY: key(2) }),
          "wrong SECRETS_KEY: The database was written with another key. Start with that key, or with another database"
        )
        // A process without the setting has the key of its folder, and would make none for this database.
        assert.strictEqual(
          yield* found({ DATABASE_URL, DATA_DIR: "/nowhere" }),
          "wrong /nowhere/secrets-key is missing. Restore it from a backup, or set SECRETS_KEY"
        )
      }).pipe(Effect.scoped)
  )

  it.live("that this version can't migrate, says so, as the start does", () =>
    Effect.gen(function* () {
      const DATABASE_URL = yield* migrated
      yield* administer(Redacted.make(DATABASE_URL), "UPDATE migrations SET name = 'other' WHERE migration_id = 2")
      assert.match(
        yield* found({ DATABASE_URL, SECRETS_KEY: key(1) }),
        /^wrong The database at \S+ can't be migrated: It was made by .*\(migration 2 is other, not \w+\)\. Start the version .* empty DATABASE_URL and RAW_DIR$/
      )
    }).pipe(Effect.scoped)
  )

  it.live("that does not exist, or with a role that does not, says how to make it or what to correct", () =>
    Effect.gen(function* () {
      const url = new URL(yield* migrated)
      url.pathname = "/inlet_test_nowhere"
      assert.match(
        yield* found({ DATABASE_URL: url.href, SECRETS_KEY: key(1) }),
        /^wrong The database at \S+ can't be used: database "inlet_test_nowhere" does not exist\. Create it with createdb, or correct DATABASE_URL$/
      )
      url.username = "inlet_test_nobody"
      url.password = "sentinel"
      const nobody = yield* found({ DATABASE_URL: url.href, SECRETS_KEY: key(1) })
      assert.match(
        nobody,
        /^wrong .* can't be used: .*inlet_test_nobody.*\. .*, or correct DATABASE_URL$|DATABASE_PASSWORD$/
      )
      assert.notInclude(nobody, "sentinel")
    }).pipe(Effect.scoped)
  )
})
