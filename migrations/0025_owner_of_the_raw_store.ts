import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What the raw store is marked with, so that no other database removes what it does not know.
  yield* sql`ALTER TABLE sweeper_rounds ADD COLUMN database_id uuid NOT NULL DEFAULT gen_random_uuid()`
})
