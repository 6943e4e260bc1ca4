import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // How long our trace fields are in front of the message as it came, of which `sha256` is. Null, before this
  // migration: they are told by their form.
  yield* sql`ALTER TABLE inbound_emails ADD COLUMN trace_bytes integer`
})
