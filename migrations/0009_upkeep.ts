import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // When data past its time was looked for last, by the database's clock: one row. While it is held, for the clock has
  // leapt, nothing is removed.
  yield* sql`
    CREATE TABLE sweeper_rounds (
      one_row     boolean PRIMARY KEY DEFAULT true CHECK (one_row),
      last_at     timestamptz NOT NULL,
      held_until  timestamptz
    )
  `
  // Written to find out whether the database can be written: one row.
  yield* sql`
    CREATE TABLE write_trials (
      one_row     boolean PRIMARY KEY DEFAULT true CHECK (one_row),
      tried_at    timestamptz NOT NULL
    )
  `
})
