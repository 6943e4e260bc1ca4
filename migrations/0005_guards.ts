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
      ADD COLUMN webhook_probe_at timestamptz,
      ADD CHECK ((webhook_paused_at IS NULL) = (webhook_probe_at IS NULL))
  `
  yield* sql`CREATE INDEX domains_to_probe ON domains (webhook_probe_at) WHERE webhook_probe_at IS NOT NULL`

  // When the present attempt was claimed, and the URL it went to where that has changed since:
  // what is told of an attempt that nobody finished.
  yield* sql`ALTER TABLE deliveries ADD COLUMN claimed_at timestamptz, ADD COLUMN claimed_url text`
})
