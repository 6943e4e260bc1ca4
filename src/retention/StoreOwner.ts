import { Effect, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { RawStore } from "../providers/storage/RawStore.ts"
import type { RawStoreError } from "../providers/storage/RawStoreError.ts"
import { ownerName } from "../providers/storage/Segments.ts"

/**
 * Tells whether the raw store and its log are of this database, and marks those that are nobody's. A new database, or
 * the one of another installation, knows no row of what is stored there, and would remove it.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const raw = yield* RawStore
  const known = yield* Ref.make<boolean | undefined>(undefined)

  const isOf = (database: string, owner: (database: string) => Effect.Effect<string, RawStoreError>) =>
    Effect.map(owner(database), (found) => found === database)

  const ask = Effect.gen(function* () {
    const [row] = yield* sql<{ readonly databaseId: string }>`SELECT database_id FROM sweeper_rounds`
    if (row === undefined) return false
    const isOwn = (yield* isOf(row.databaseId, raw.owner)) && (yield* isOf(row.databaseId, raw.segments.owner))
    const before = yield* Ref.getAndSet(known, isOwn)
    if (!isOwn && before === undefined) {
      yield* Effect.logError(
        `The raw store has messages of another database, so nothing without a row is removed from it. Correct DATABASE_URL, RAW_DIR or S3_BUCKET. If that database is gone for good, remove the file or object ${ownerName} from the store`
      )
    }
    return isOwn
  })

  // It is asked once, because a store changes its owner with its settings alone.
  return Effect.flatMap(Ref.get(known), (isOwn) => (isOwn === true ? Effect.succeed(true) : ask)).pipe(
    Effect.orDie,
    Effect.withSpan("StoreOwner.isOwn")
  )
})
