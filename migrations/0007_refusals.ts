import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Refused recipients and messages of a domain. Equal ones within an hour share a row.
  yield* sql`
    CREATE TABLE refusals (
      -- A UUIDv7 of the time of the first one, so that the order of ids is that of time.
      id              uuid PRIMARY KEY,
      domain_id       uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
      hour            timestamptz NOT NULL,
      -- Begins the SHA-256 of what equal ones have in common.
      key             bytea NOT NULL,
      first_at        timestamptz NOT NULL,
      last_at         timestamptz NOT NULL,
      count           bigint NOT NULL,
      code            smallint NOT NULL,
      reply           text NOT NULL,
      reason          text NOT NULL CHECK (reason IN (
        'unknown', 'not_verified', 'disabled', 'held_elsewhere', 'rejected_route', 'quota', 'sender_quota',
        'other_recipient', 'too_large', 'recipients', 'relay', 'loop', 'rate', 'timeout', 'tls', 'protocol',
        'storage', 'shutdown'
      )),
      -- All of these are null in the row of an hour that counts refusals without details.
      client_address  text,
      helo            text,
      envelope_from   text,
      recipient       text,
      -- Null before DATA.
      subject         text,
      message_id      text,
      bytes           bigint
    )
  `
  // The conflict of equal ones.
  yield* sql`CREATE UNIQUE INDEX refusals_equal ON refusals (domain_id, hour, key)`
  // The list of a domain, alone and by each filter.
  yield* sql`CREATE INDEX refusals_domain ON refusals (domain_id, id)`
  yield* sql`CREATE INDEX refusals_reason ON refusals (domain_id, reason, id)`
  yield* sql`CREATE INDEX refusals_domain_sender ON refusals (domain_id, lower(envelope_from), id)`
  // Searches over several domains. A recipient names its domain.
  yield* sql`CREATE INDEX refusals_sender ON refusals (lower(envelope_from), id)`
  yield* sql`CREATE INDEX refusals_recipient ON refusals (lower(recipient), id)`
  yield* sql`CREATE INDEX refusals_message ON refusals (lower(message_id), id) WHERE message_id IS NOT NULL`

  // Refusals of a domain on a UTC day, by reason. They outlive the rows.
  yield* sql`
    CREATE TABLE domain_day_refusals (
      domain_id  uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
      day        date NOT NULL,
      reason     text NOT NULL,
      refused    bigint NOT NULL,
      -- Rows with details that this day and reason have, which bounds them.
      details    integer NOT NULL,
      PRIMARY KEY (domain_id, day, reason)
    )
  `
  yield* sql`CREATE INDEX domain_day_refusals_age ON domain_day_refusals (day)`

  // For the operator: refusals that belong to no domain. Those for names that no workspace has, and failures before
  // RCPT.
  yield* sql`
    CREATE TABLE unknown_refusals (
      id        uuid PRIMARY KEY,
      hour      timestamptz NOT NULL,
      reason    text NOT NULL,
      -- Empty before RCPT, and where names are no longer told apart.
      name      text NOT NULL,
      -- Empty where clients are no longer told apart.
      client    text NOT NULL,
      first_at  timestamptz NOT NULL,
      last_at   timestamptz NOT NULL,
      count     bigint NOT NULL,
      -- Of the last one.
      code      smallint,
      reply     text NOT NULL,
      helo      text NOT NULL
    )
  `
  yield* sql`CREATE UNIQUE INDEX unknown_refusals_equal ON unknown_refusals (hour, client, reason, name)`
  // The list of one name.
  yield* sql`CREATE INDEX unknown_refusals_name ON unknown_refusals (name, id)`
  // The number of rows of a client today.
  yield* sql`CREATE INDEX unknown_refusals_client ON unknown_refusals (client, hour)`
})
