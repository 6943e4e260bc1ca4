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

  // Keys with fewer rights than the key of their workspace, which is in workspaces.
  yield* sql`
    CREATE TABLE workspace_keys (
      id            uuid PRIMARY KEY,
      workspace_id  uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      scope         text NOT NULL CHECK (scope IN ('read')),
      name          text,
      -- SHA-256 of the key. Requests find the row by it. The key itself is shown once and not stored.
      hash          bytea NOT NULL UNIQUE,
      -- The first characters of the key, so that people can tell keys apart.
      begins        text NOT NULL,
      created_at    timestamptz NOT NULL DEFAULT now(),
      -- Rounded to the hour. Null before the first use.
      last_used_at  timestamptz
    )
  `
  // The list of a workspace's keys.
  yield* sql`CREATE INDEX workspace_keys_workspace ON workspace_keys (workspace_id)`

  // Requests with an Idempotency-Key, and their answers.
  yield* sql`
    CREATE TABLE idempotency_keys (
      workspace_id  uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      route         text NOT NULL,
      key           text NOT NULL,
      -- SHA-256 of the request.
      fingerprint   bytea NOT NULL,
      begun_at      timestamptz NOT NULL DEFAULT now(),
      -- Null while the request is in progress.
      answer        text,
      PRIMARY KEY (workspace_id, route, key)
    )
  `
  yield* sql`CREATE INDEX idempotency_keys_age ON idempotency_keys (begun_at)`

  // How often a client address or a workspace did something today. All processes share these counts.
  yield* sql`
    CREATE TABLE client_limits (
      action  text NOT NULL,
      client  text NOT NULL,
      day     date NOT NULL,
      count   integer NOT NULL,
      -- The day first, so that the sweeper finds expired rows.
      PRIMARY KEY (day, action, client)
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
      -- Of purchased domains only. The registrar is asked daily once the term has ended.
      registrar          text,
      term_ends_at       timestamptz,
      -- The next DNS check of a purchased domain, and the number of checks so far.
      verify_at          timestamptz,
      verify_tries       integer NOT NULL DEFAULT 0,
      -- The first of the failures since the last success, and the next request to a paused webhook.
      webhook_failing_since  timestamptz,
      webhook_probe_at       timestamptz,
      -- Failures since then, the UTC days with a failure, and the last such day. They count only up to what a pause needs.
      webhook_failures       integer NOT NULL DEFAULT 0,
      webhook_failure_days   integer NOT NULL DEFAULT 0,
      webhook_failed_on      date,
      -- Clients fetch the deliveries of this domain. Excludes a webhook.
      pull               boolean NOT NULL DEFAULT false,
      CHECK ((status = 'disabled') = (status_before IS NOT NULL)),
      CONSTRAINT domains_name_once_per_workspace UNIQUE (workspace_id, name),
      CHECK ((webhook_paused_at IS NULL) = (webhook_probe_at IS NULL)),
      CONSTRAINT domains_pull CHECK (NOT pull OR webhook_url IS NULL)
    )
  `

  // Many may wait for a name, one holds it.
  yield* sql`CREATE UNIQUE INDEX domains_one_holder ON domains (name) WHERE verified_at IS NOT NULL`
  yield* sql`CREATE UNIQUE INDEX domains_one_instant_inbox ON domains (workspace_id) WHERE origin = 'instant'`
  yield* sql`CREATE INDEX domains_pending ON domains (name) WHERE verified_at IS NULL`
  yield* sql`CREATE INDEX domains_unverified ON domains (created_at) WHERE status = 'pending_verification'`
  yield* sql`
    CREATE INDEX domains_to_verify ON domains (verify_at)
    WHERE origin = 'purchased' AND status = 'pending_verification'
  `
  yield* sql`CREATE INDEX domains_terms ON domains (term_ends_at) WHERE origin = 'purchased'`
  yield* sql`CREATE INDEX domains_to_probe ON domains (webhook_probe_at) WHERE webhook_probe_at IS NOT NULL`

  // Removed domains whose mail is still to be deleted, in batches.
  yield* sql`
    CREATE TABLE removed_domains (
      domain_id  uuid PRIMARY KEY,
      -- The domain with the earliest time is next.
      turn_at    timestamptz NOT NULL DEFAULT now()
    )
  `
  // A trigger, because a domain is also removed with its workspace. The row of the domain is locked by then, so it
  // gets no more mail.
  yield* sql`
    CREATE FUNCTION note_removed_domain() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO removed_domains (domain_id) VALUES (OLD.id);
      RETURN OLD;
    END $$
  `
  yield* sql`
    CREATE TRIGGER note_removed_domain BEFORE DELETE ON domains
    FOR EACH ROW EXECUTE FUNCTION note_removed_domain()
  `

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
