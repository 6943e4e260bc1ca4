import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { RawStoreError } from "../providers/storage/RawStoreError.ts"
import { ownerName } from "../providers/storage/Segments.ts"
import * as Elapsed from "../schedule/Elapsed.ts"

/** How often a foreign store is logged. */
const eachMillis = Duration.toMillis("1 day")

const foreign = `The raw store belongs to another database, so nothing without a row is removed from it. Correct DATABASE_URL, RAW_DIR or S3_BUCKET. If that database is gone for good, or if this one was restored from a backup without its mark, remove the file or object ${ownerName} from the store`

/**
 * Tells whether a raw store, or its log, is of this database, and marks one that is nobody's. A new database, or the one
 * of another installation, knows no row of what is stored there, and would remove it.
 */
export const make = Effect.fnUntraced(function* (
  owner: (database: string) => Effect.Effect<string, RawStoreError>
): Effect.fn.Return<Effect.Effect<boolean>, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  // It is asked until it is, because a store changes its owner with its settings alone.
  let isOwn = false
  let loggedAt = Number.NEGATIVE_INFINITY

  const ask = Effect.gen(function* () {
    const [row] = yield* sql<{ readonly databaseId: string }>`SELECT database_id FROM sweeper_rounds`
    if (row === undefined) return false
    isOwn = (yield* owner(row.databaseId)) === row.databaseId
    const now = yield* Elapsed.millis
    if (!isOwn && now - loggedAt >= eachMillis) {
      loggedAt = now
      yield* Effect.logError(foreign)
    }
    return isOwn
  })

  return Effect.suspend(() => (isOwn ? Effect.succeed(true) : ask)).pipe(
    Effect.orDie,
    Effect.withSpan("StoreOwner.isOwn")
  )
})
