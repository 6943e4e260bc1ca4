import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A state machine: each step is written before the next begins, and any worker goes on where another stopped.
  yield* sql`
    CREATE TABLE orders (
      id            uuid PRIMARY KEY,
      workspace_id  uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      name          text NOT NULL,
      years         integer NOT NULL CHECK (years BETWEEN 1 AND 10),
      registrar     text NOT NULL,
      billing       text NOT NULL,
      price_cents   integer NOT NULL CHECK (price_cents > 0),
      status        text NOT NULL CHECK (status IN (
        'pending_payment', 'paid', 'registering', 'provisioning', 'completed', 'expired', 'failed', 'refunded'
      )),
      domain_id     uuid REFERENCES domains ON DELETE SET NULL,
      checkout_id   text UNIQUE,
      checkout_url  text,
      success_url   text NOT NULL,
      cancel_url    text NOT NULL,
      -- What the payment provider refunds by.
      payment_id    text,
      failure       text,
      -- Money to be given back; the order is not over before it is.
      refund_due    boolean NOT NULL DEFAULT false,
      tries         integer NOT NULL DEFAULT 0,
      due_at        timestamptz NOT NULL DEFAULT now(),
      leased_until  timestamptz,
      created_at    timestamptz NOT NULL DEFAULT now()
    )
  `
  yield* sql`
    CREATE UNIQUE INDEX orders_one_open ON orders (workspace_id, name)
    WHERE status IN ('pending_payment', 'paid', 'registering', 'provisioning')
  `
  // The first paid order of a name holds it, among all workspaces.
  yield* sql`
    CREATE UNIQUE INDEX orders_one_holder ON orders (name) WHERE status IN ('paid', 'registering', 'provisioning')
  `
  yield* sql`
    CREATE INDEX orders_due ON orders (due_at)
    WHERE status IN ('paid', 'registering', 'provisioning') OR refund_due
  `
  yield* sql`CREATE INDEX orders_unpaid ON orders (created_at) WHERE status = 'pending_payment'`
  // The list of a workspace's orders.
  yield* sql`CREATE INDEX orders_workspace ON orders (workspace_id, id)`

  // The balance can't go below zero, and is the sum of the entries.
  yield* sql`
    CREATE TABLE wallets (
      workspace_id   uuid PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
      balance_cents  integer NOT NULL CHECK (balance_cents >= 0)
    )
  `
  yield* sql`
    CREATE TABLE wallet_entries (
      id            uuid PRIMARY KEY,
      workspace_id  uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      order_id      uuid REFERENCES orders ON DELETE CASCADE,
      amount_cents  integer NOT NULL,
      kind          text NOT NULL CHECK (kind IN ('opening', 'debit', 'refund')),
      created_at    timestamptz NOT NULL DEFAULT now(),
      -- An order is debited once and refunded once.
      UNIQUE (order_id, kind)
    )
  `
  yield* sql`CREATE UNIQUE INDEX wallet_entries_one_opening ON wallet_entries (workspace_id) WHERE kind = 'opening'`
  yield* sql`CREATE INDEX wallet_entries_workspace ON wallet_entries (workspace_id, id)`

  // Callbacks of the payment provider that have been done.
  yield* sql`
    CREATE TABLE payment_events (
      id           text PRIMARY KEY,
      received_at  timestamptz NOT NULL DEFAULT now()
    )
  `

  // What the mock registrar has sold, and what its DNS answers.
  yield* sql`
    CREATE TABLE mock_registrations (
      name           text PRIMARY KEY,
      order_id       uuid NOT NULL,
      years          integer NOT NULL,
      registered_at  timestamptz NOT NULL DEFAULT now()
    )
  `
  yield* sql`
    CREATE TABLE mock_zone_records (
      domain    text NOT NULL,
      name      text NOT NULL,
      type      text NOT NULL CHECK (type IN ('MX', 'TXT')),
      priority  integer,
      value     text NOT NULL
    )
  `
  yield* sql`CREATE INDEX mock_zone_records_name ON mock_zone_records (name, type)`
})
