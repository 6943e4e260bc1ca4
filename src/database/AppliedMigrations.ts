import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"

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
  return yield* new Migrator.MigrationError({
    kind: "BadState",
    message: `It was made by a version that cannot be upgraded (migration ${other.id} is ${other.name}, not ${names.get(other.id)}). Name an empty database. The changelog says from which version on`
  })
})
