import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    CREATE TABLE workspaces (
      id                       uuid PRIMARY KEY,
      name                     text NOT NULL,
      -- SHA-256 of the API key: the key itself is shown once and not kept.
      api_key_hash             bytea NOT NULL UNIQUE,
      -- Sealed under SECRETS_KEY.
      signing_secret           bytea NOT NULL,
      previous_signing_secret  bytea,
      previous_secret_until    timestamptz,
      created_at               timestamptz NOT NULL DEFAULT now()
    )
  `

  // One row: tells a process whose SECRETS_KEY is another one before it breaks anything.
  yield* sql`
    CREATE TABLE secrets_key_check (
      single  boolean PRIMARY KEY DEFAULT true CHECK (single),
      value   bytea NOT NULL
    )
  `

  yield* sql`
    CREATE TABLE domains (
      id                 uuid PRIMARY KEY,
      -- Null for demo inboxes, which belong to nobody.
      workspace_id       uuid REFERENCES workspaces ON DELETE CASCADE,
      name               text NOT NULL,
      origin             text NOT NULL CHECK (origin IN ('byo', 'purchased', 'instant', 'demo')),
      status             text NOT NULL
        CHECK (status IN ('pending_verification', 'mx_pending', 'verified', 'live', 'disabled')),
      -- The state to go back to when the domain is enabled again.
      status_before      text,
      disabled_reason    text,
      txt_value          text,
      webhook_url        text,
      webhook_paused_at  timestamptz,
      created_at         timestamptz NOT NULL DEFAULT now(),
      verified_at        timestamptz,
      live_at            timestamptz,
      CHECK ((status = 'disabled') = (status_before IS NOT NULL)),
      CONSTRAINT domains_name_once_per_workspace UNIQUE (workspace_id, name)
    )
  `

  // Many may wait for a name, one holds it.
  yield* sql`CREATE UNIQUE INDEX domains_one_holder ON domains (name) WHERE verified_at IS NOT NULL`
  yield* sql`CREATE UNIQUE INDEX domains_one_instant_inbox ON domains (workspace_id) WHERE origin = 'instant'`
  yield* sql`CREATE INDEX domains_pending ON domains (name) WHERE verified_at IS NULL`
  yield* sql`CREATE INDEX domains_unverified ON domains (created_at) WHERE status = 'pending_verification'`

  // Apart from domains, so that counting does not rewrite the wide row.
  yield* sql`
    CREATE TABLE daily_intake (
      workspace_id  uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      day           date NOT NULL,
      accepted      integer NOT NULL,
      PRIMARY KEY (workspace_id, day)
    )
  `
})
