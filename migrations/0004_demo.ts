import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE demo_sessions (
      -- SHA-256 of the cookie.
      token_hash  bytea PRIMARY KEY,
      domain_id   uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
      expires_at  timestamptz NOT NULL
    )
  `
  yield* sql`CREATE INDEX demo_sessions_domain ON demo_sessions (domain_id)`
  yield* sql`CREATE INDEX demo_sessions_expiry ON demo_sessions (expires_at)`
})
