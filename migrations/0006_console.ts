import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Browsers that are signed in at /console, of a workspace or of the operator.
  yield* sql`
    CREATE TABLE console_sessions (
      id            uuid PRIMARY KEY,
      -- SHA-256 of the cookie.
      token_hash    bytea NOT NULL UNIQUE,
      -- Null for the operator.
      workspace_id  uuid REFERENCES workspaces ON DELETE CASCADE,
      -- The read key that opened the session, which ends with it.
      key_id        uuid REFERENCES workspace_keys ON DELETE CASCADE,
      -- Otherwise the SHA-256 of the workspace's own key or the operator's token. Another key ends the session.
      key_hash      bytea,
      browser       text,
      created_at    timestamptz NOT NULL DEFAULT now(),
      -- To five minutes.
      last_used_at  timestamptz NOT NULL DEFAULT now(),
      CHECK (workspace_id IS NOT NULL OR key_id IS NULL),
      CHECK ((key_id IS NULL) <> (key_hash IS NULL))
    )
  `
  yield* sql`CREATE INDEX console_sessions_workspace ON console_sessions (workspace_id)`
  yield* sql`CREATE INDEX console_sessions_key ON console_sessions (key_id)`
  yield* sql`CREATE INDEX console_sessions_age ON console_sessions (last_used_at)`

  // Links of 'inlet console': each opens one session, within a minute.
  yield* sql`
    CREATE TABLE console_links (
      token_hash    bytea PRIMARY KEY,
      workspace_id  uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      key_hash      bytea NOT NULL,
      expires_at    timestamptz NOT NULL
    )
  `

  // Figures of a domain for a UTC day. They outlive the events they were counted from.
  yield* sql`
    CREATE TABLE domain_days (
      domain_id  uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
      day        date NOT NULL,
      accepted   integer NOT NULL DEFAULT 0,
      bytes      bigint NOT NULL DEFAULT 0,
      delivered  integer NOT NULL DEFAULT 0,
      failed     integer NOT NULL DEFAULT 0,
      dead       integer NOT NULL DEFAULT 0,
      PRIMARY KEY (domain_id, day)
    )
  `

  yield* sql`CREATE INDEX domain_days_age ON domain_days (day)`

  // Deliveries of that day by their time from receipt to 2xx. Bucket n counts those of 2^(n/4) to 2^((n+1)/4) ms.
  yield* sql`
    CREATE TABLE domain_day_latencies (
      domain_id   uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
      day         date NOT NULL,
      bucket      smallint NOT NULL,
      deliveries  integer NOT NULL,
      PRIMARY KEY (domain_id, day, bucket)
    )
  `

  yield* sql`CREATE INDEX domain_day_latencies_age ON domain_day_latencies (day)`

  // How far a domain's events and attempts are counted.
  yield* sql`
    CREATE TABLE domain_days_counted (
      domain_id       uuid PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
      position        bigint NOT NULL DEFAULT 0,
      attempts_until  timestamptz NOT NULL DEFAULT '-infinity'
    )
  `
})
