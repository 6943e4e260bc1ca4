import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Deliveries of a job whose webhook takes none. They are part of `failed`.
  yield* sql`ALTER TABLE replays ADD COLUMN unserved integer NOT NULL DEFAULT 0`
})
