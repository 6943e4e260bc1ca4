import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What lists are filtered by beside addresses, as src/model/Traits.ts has it. Null before this migration:
  // those events are told by no filter of these.
  yield* sql`ALTER TABLE events ADD COLUMN traits smallint, ADD COLUMN thread_id uuid, ADD COLUMN subject text`
  // Codes are asked for the most, and few messages have one.
  yield* sql`CREATE INDEX events_with_code ON events (domain_id, position) WHERE traits & 1 = 1`
})
