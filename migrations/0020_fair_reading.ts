import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Left-over messages are claimed domain by domain, so that a backlog of one domain delays no other.
  yield* sql`DROP INDEX inbound_emails_to_read`
  yield* sql`CREATE INDEX inbound_emails_to_read ON inbound_emails (domain_id, received_at) WHERE state = 'received'`
})
