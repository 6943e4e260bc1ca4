import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as AppliedMigrations from "../../src/database/AppliedMigrations.ts"
import * as TestDatabase from "../TestDatabase.ts"

const own = [
  [1, "workspaces_and_domains", Effect.void],
  [2, "mail", Effect.void]
] as const

const withoutUrl = Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: {} }))

layer(TestDatabase.layer, { excludeTestServices: true })("A database with migrations", (it) => {
  it.effect("of this version and later ones is migrated", () => AppliedMigrations.refuseOthers(own))

  it.effect("under the same number with another name is refused, and told how to go on", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE migrations SET name = 'fair_reading' WHERE migration_id = 2`
      const error = yield* Effect.flip(withoutUrl(AppliedMigrations.refuseOthers(own)))
      assert.match(
        error.message,
        /\(migration 2 is fair_reading, not mail\)\. Start the version that made it and let it deliver its mail, then start this one with an empty DATA_DIR and RAW_DIR$/
      )
    })
  )
})
