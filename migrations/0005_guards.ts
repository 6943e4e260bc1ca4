import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Our field of RFC 8601, put in front of the raw message when it is shown. Null until it is read.
  yield* sql`ALTER TABLE inbound_emails ADD COLUMN authentication_results text`

  // Since when a webhook has only failed, and when a paused one is tried next.
  yield* sql`
    ALTER TABLE domains
      ADD COLUMN webhook_failing_since timestamptz,
      ADD COLUMN webhook_probe_at timestamptz
  `
})
