import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import * as Settings from "../Settings.ts"

/**
 * Fails if the database has a migration under a number of this version, with another name. Migrations are run by their
 * numbers, so it would be taken for migrated, and no statement on mail would work.
 */
export const refuseOthers = Effect.fnUntraced(function* (own: ReadonlyArray<Migrator.ResolvedMigration>) {
  const sql = yield* SqlClient.SqlClient
  const [made] = yield* sql<{ readonly table: string | null }>`SELECT to_regclass('migrations')::text AS table`
  if (made?.table == null) return
  const names = new Map(own.map(([id, name]) => [id, name]))
  const applied = yield* sql<{ readonly id: number; readonly name: string }>`
    SELECT migration_id AS id, name FROM migrations ORDER BY migration_id
  `
  const other = applied.find(({ id, name }) => names.has(id) && names.get(id) !== name)
  if (other === undefined) return
  const { url } = yield* Effect.orDie(Settings.database)
  const setting = url === undefined ? "DATA_DIR" : "DATABASE_URL"
  return yield* new Migrator.MigrationError({
    kind: "BadState",
    message: `It was made by a version that cannot be upgraded (migration ${other.id} is ${other.name}, not ${names.get(other.id)}). Start the version that made it and let it deliver its mail, then start this one with an empty ${setting} and RAW_DIR`
  })
})
