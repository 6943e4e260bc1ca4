import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What was answered 250. Also the reader's queue: `received` until its events exist.
  yield* sql`
    CREATE TABLE inbound_emails (
      id              uuid PRIMARY KEY,
      domain_id       uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
      received_at     timestamptz NOT NULL,
      sha256          bytea NOT NULL,
      mail_from       text NOT NULL,
      helo            text NOT NULL,
      remote_address  text NOT NULL,
      recipients      text[] NOT NULL,
      state           text NOT NULL CHECK (state IN ('received', 'read')),
      read_attempts   integer NOT NULL DEFAULT 0,
      leased_until    timestamptz
    )
  `
  yield* sql`CREATE INDEX inbound_emails_to_read ON inbound_emails (received_at) WHERE state = 'received'`
  yield* sql`CREATE INDEX inbound_emails_age ON inbound_emails (received_at)`
  yield* sql`CREATE INDEX inbound_emails_domain ON inbound_emails (domain_id)`

  // A sender that missed our 250 sends again: same domain, recipient and bytes make the same key.
  yield* sql`
    CREATE TABLE received_once (
      key               bytea PRIMARY KEY,
      inbound_email_id  uuid NOT NULL REFERENCES inbound_emails ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
      received_at       timestamptz NOT NULL
    )
  `
  yield* sql`CREATE INDEX received_once_age ON received_once (received_at)`
  yield* sql`CREATE INDEX received_once_inbound_email ON received_once (inbound_email_id)`

  // The last position given out. Its row lock lasts until commit, so a domain's events appear in order.
  yield* sql`
    CREATE TABLE event_positions (
      domain_id  uuid PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
      position   bigint NOT NULL
    )
  `

  yield* sql`
    CREATE TABLE events (
      id                uuid PRIMARY KEY,
      domain_id         uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
      inbound_email_id  uuid NOT NULL REFERENCES inbound_emails ON DELETE CASCADE,
      position          bigint NOT NULL,
      recipient         text NOT NULL,
      sender            text NOT NULL,
      received_at       timestamptz NOT NULL,
      -- The exact text that is signed and sent, on every attempt.
      payload           text NOT NULL,
      UNIQUE (domain_id, position)
    )
  `
  yield* sql`CREATE INDEX events_inbound_email ON events (inbound_email_id)`
  yield* sql`CREATE INDEX events_recipient ON events (domain_id, lower(recipient), position)`
  yield* sql`CREATE INDEX events_sender ON events (domain_id, lower(sender), position)`

  // The queue, narrow on purpose: it is written on every attempt.
  yield* sql`
    CREATE TABLE deliveries (
      event_id       uuid PRIMARY KEY REFERENCES events ON DELETE CASCADE,
      domain_id      uuid NOT NULL,
      position       bigint NOT NULL,
      status         text NOT NULL CHECK (status IN ('pending', 'delivered', 'dead', 'held')),
      attempts       integer NOT NULL DEFAULT 0,
      -- Attempts made before the last replay; the budget counts from here.
      spent          integer NOT NULL DEFAULT 0,
      due_at         timestamptz NOT NULL,
      leased_until   timestamptz,
      delivered_at   timestamptz,
      last_error     text
    )
  `
  yield* sql`CREATE INDEX deliveries_due ON deliveries (domain_id, due_at) WHERE status = 'pending'`
  yield* sql`CREATE INDEX deliveries_undelivered ON deliveries (domain_id, status, position) WHERE status <> 'delivered'`

  yield* sql`
    CREATE TABLE delivery_attempts (
      id             uuid PRIMARY KEY,
      event_id       uuid NOT NULL REFERENCES events ON DELETE CASCADE,
      domain_id      uuid NOT NULL,
      attempt        integer NOT NULL,
      url            text NOT NULL,
      requested_at   timestamptz NOT NULL,
      duration_ms    integer,
      status_code    integer,
      ok             boolean NOT NULL,
      error          text,
      response_body  text,
      UNIQUE (event_id, attempt)
    )
  `
  yield* sql`CREATE INDEX delivery_attempts_domain ON delivery_attempts (domain_id, requested_at, id)`
})
