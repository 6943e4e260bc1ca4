import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What was answered 250. Also the reader's queue: `received` until its events exist.
  yield* sql`
    CREATE TABLE inbound_emails (
      id              uuid PRIMARY KEY,
      -- No foreign key: mail is removed some time after its domain.
      domain_id       uuid NOT NULL,
      received_at     timestamptz NOT NULL,
      -- Of the message as received, behind our trace fields.
      sha256          bytea NOT NULL,
      mail_from       text NOT NULL,
      helo            text NOT NULL,
      remote_address  text NOT NULL,
      recipients      text[] NOT NULL,
      state           text NOT NULL CHECK (state IN ('received', 'read')),
      read_attempts   integer NOT NULL DEFAULT 0,
      leased_until    timestamptz,
      -- Our field of RFC 8601, shown in front of the raw message. Null until the message is read.
      authentication_results  text,
      -- The place in the log of segments. Null for an object in a bucket.
      segment         uuid,
      raw_at          bigint,
      raw_bytes       integer,
      -- The length of our trace fields in front of the message.
      trace_bytes     integer NOT NULL
    )
  `
  // Leftover messages are claimed domain by domain, so that the backlog of one domain delays no other.
  yield* sql`CREATE INDEX inbound_emails_to_read ON inbound_emails (domain_id, received_at) WHERE state = 'received'`
  yield* sql`CREATE INDEX inbound_emails_age ON inbound_emails (received_at)`
  yield* sql`CREATE INDEX inbound_emails_domain ON inbound_emails (domain_id)`

  // Records of the log that lost their row before their time. They are overwritten, then their row here is deleted.
  yield* sql`
    CREATE TABLE raw_erasures (
      segment           uuid NOT NULL,
      raw_at            bigint NOT NULL,
      raw_bytes         integer NOT NULL,
      inbound_email_id  uuid NOT NULL,
      due_at            timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (segment, raw_at)
    )
  `

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
      domain_id         uuid NOT NULL,
      inbound_email_id  uuid NOT NULL REFERENCES inbound_emails ON DELETE CASCADE,
      position          bigint NOT NULL,
      recipient         text NOT NULL,
      sender            text NOT NULL,
      received_at       timestamptz NOT NULL,
      -- The exact text that is signed and sent, on every attempt.
      payload           text NOT NULL,
      -- Time filters find positions by it, so they need no index by time.
      read_at           timestamptz NOT NULL DEFAULT now(),
      -- Filters of lists, as bits of src/model/Traits.ts.
      traits            smallint,
      thread_id         uuid,
      subject           text,
      UNIQUE (domain_id, position)
    )
  `
  // LZ4 takes a quarter of the time of pglz and a tenth more space. PostgreSQL can be built without it.
  yield* sql`
    DO $$ BEGIN
      ALTER TABLE events ALTER COLUMN payload SET COMPRESSION lz4;
    EXCEPTION WHEN feature_not_supported THEN NULL;
    END $$
  `
  yield* sql`CREATE INDEX events_inbound_email ON events (inbound_email_id)`
  yield* sql`CREATE INDEX events_recipient ON events (domain_id, lower(recipient), position)`
  yield* sql`CREATE INDEX events_sender ON events (domain_id, lower(sender), position)`
  // The few events that were not read within a minute.
  yield* sql`
    CREATE INDEX events_out_of_step ON events (domain_id, position)
    WHERE abs(extract(epoch FROM read_at - received_at)) > 60
  `
  // Clients ask for codes most often, and few messages have one.
  yield* sql`CREATE INDEX events_with_code ON events (domain_id, position) WHERE traits & 1 = 1`

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
      last_error     text,
      -- When the current attempt was claimed, and its URL if that has changed since. Both describe an attempt that
      -- did not finish.
      claimed_at     timestamptz,
      claimed_url    text,
      -- Of dead deliveries only, in lower case.
      recipient      text,
      sender         text
    )
  `
  yield* sql`CREATE INDEX deliveries_due ON deliveries (domain_id, due_at) WHERE status = 'pending'`
  yield* sql`CREATE INDEX deliveries_undelivered ON deliveries (domain_id, status, position) WHERE status <> 'delivered'`
  // Dead letters are listed by recipient and sender. Other deliveries are not in these indexes, so they cost mail nothing.
  yield* sql`CREATE INDEX deliveries_dead_recipient ON deliveries (domain_id, recipient, position) WHERE status = 'dead'`
  yield* sql`CREATE INDEX deliveries_dead_sender ON deliveries (domain_id, sender, position) WHERE status = 'dead'`
  // A trigger, because several statements make a delivery dead.
  yield* sql`
    CREATE FUNCTION name_the_dead() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      SELECT lower(events.recipient), lower(events.sender) INTO NEW.recipient, NEW.sender
      FROM events WHERE events.id = NEW.event_id;
      RETURN NEW;
    END $$
  `
  yield* sql`
    CREATE TRIGGER name_the_dead BEFORE INSERT OR UPDATE OF status ON deliveries
    FOR EACH ROW WHEN (NEW.status = 'dead' AND NEW.recipient IS NULL) EXECUTE FUNCTION name_the_dead()
  `

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
