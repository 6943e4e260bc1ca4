import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The events of a message for many recipients are written in parts. This is the number of those that have one.
  yield* sql`ALTER TABLE inbound_emails ADD COLUMN read_recipients integer NOT NULL DEFAULT 0`
})
