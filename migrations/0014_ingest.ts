import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Keys with which a relay hands mail over, and that may do nothing else.
  yield* sql`
    ALTER TABLE workspace_keys
      DROP CONSTRAINT workspace_keys_scope_check,
      ADD CONSTRAINT workspace_keys_scope_check CHECK (scope IN ('read', 'ingest'))
  `

  // True if a relay handed the mail over with POST /api/domains/{id}/ingest. Its client address and HELO are then the
  // word of that relay.
  yield* sql`ALTER TABLE inbound_emails ADD COLUMN relayed boolean NOT NULL DEFAULT false`
  yield* sql`ALTER TABLE refusals ADD COLUMN relayed boolean NOT NULL DEFAULT false`
})
