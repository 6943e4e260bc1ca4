import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The TLS version of the session. Null without TLS.
  yield* sql`ALTER TABLE inbound_emails ADD COLUMN tls text`

  // A hash of the Message-ID, which src/model/MessageKey.ts computes. Null without one.
  yield* sql`ALTER TABLE events ADD COLUMN message_key bigint`
  yield* sql`CREATE INDEX events_message ON events (message_key, domain_id) WHERE message_key IS NOT NULL`

  // With the domain, because one message may be refused for very many of them.
  yield* sql`DROP INDEX refusals_message`
  yield* sql`
    CREATE INDEX refusals_message ON refusals (lower(message_id), domain_id, id) WHERE message_id IS NOT NULL
  `
})
