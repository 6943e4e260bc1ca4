import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Milliseconds from the end of a message to the commit before its 250. Null if the process that accepted it did not
  // parse it.
  yield* sql`ALTER TABLE inbound_emails ADD COLUMN stored_ms integer`
})
