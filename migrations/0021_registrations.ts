import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Requests to register. `tries` also counts looks at a registrar that did not answer, which say nothing.
  yield* sql`ALTER TABLE orders ADD COLUMN registrations integer NOT NULL DEFAULT 0`
  yield* sql`UPDATE orders SET registrations = tries WHERE status = 'registering'`
})
