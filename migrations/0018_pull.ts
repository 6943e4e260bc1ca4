import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Its mail waits to be asked for, and is posted nowhere. Never beside a webhook.
  yield* sql`
    ALTER TABLE domains
      ADD COLUMN pull boolean NOT NULL DEFAULT false,
      ADD CONSTRAINT domains_pull CHECK (NOT pull OR webhook_url IS NULL)
  `
})
