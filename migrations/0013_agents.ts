import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The last code that an MCP session was given, for each recipient and sender. Rows count for minutes.
  yield* sql`
    CREATE TABLE given_codes (
      workspace_id  uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      -- SHA-256 of the session id.
      session       bytea NOT NULL,
      domain_id     uuid NOT NULL,
      -- SHA-256 of recipient and sender.
      pair          bytea NOT NULL,
      position      bigint NOT NULL,
      given_at      timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (workspace_id, session, domain_id, pair)
    )
  `
  yield* sql`CREATE INDEX given_codes_age ON given_codes (given_at)`

  // What a limited key may see: mail to local parts that the pattern takes, of one domain or of all. Null for a key
  // without a limit. The hash of a limited key is another one than that of the same text as a key without a limit, so a
  // process of the previous version does not find it.
  yield* sql`
    ALTER TABLE workspace_keys
      ADD COLUMN pattern text,
      ADD COLUMN domain_id uuid REFERENCES domains ON DELETE CASCADE,
      ADD CONSTRAINT workspace_keys_limit CHECK (domain_id IS NULL OR pattern IS NOT NULL)
  `
  // The keys that go with a removed domain.
  yield* sql`CREATE INDEX workspace_keys_domain ON workspace_keys (domain_id) WHERE domain_id IS NOT NULL`
})
