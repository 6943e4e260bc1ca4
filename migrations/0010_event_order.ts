import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The time of the last position, so that the times of a domain's events follow the order of their positions. A list
  // over several domains merges them by these times. Times in older rows can be out of order by milliseconds.
  yield* sql`ALTER TABLE event_positions ADD COLUMN read_at timestamptz NOT NULL DEFAULT '-infinity'`
})
