import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // One row: the last round of the sweeper by the database's clock. After a leap of the clock, nothing is removed
  // until `held_until`.
  yield* sql`
    CREATE TABLE sweeper_rounds (
      one_row     boolean PRIMARY KEY DEFAULT true CHECK (one_row),
      last_at     timestamptz NOT NULL,
      held_until  timestamptz
    )
  `
  // One row, written to find out whether the database takes writes.
  yield* sql`
    CREATE TABLE write_trials (
      one_row     boolean PRIMARY KEY DEFAULT true CHECK (one_row),
      tried_at    timestamptz NOT NULL
    )
  `
})
