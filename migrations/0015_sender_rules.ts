import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Who may write to a domain, or to the addresses of one of its webhooks.
  yield* sql`
    CREATE TABLE sender_rules (
      id          uuid PRIMARY KEY,
      domain_id   uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
      -- Null for all addresses of the domain.
      webhook_id  uuid REFERENCES webhooks ON DELETE CASCADE,
      list        text NOT NULL CHECK (list IN ('allow', 'block')),
      match       text NOT NULL CHECK (match IN ('author', 'envelope', 'network')),
      -- In lower case: an address, a domain, '*.' and a domain, or a network.
      value       text NOT NULL,
      action      text NOT NULL CHECK (action IN ('hold', 'reject')),
      note        text,
      created_at  timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT sender_rules_reject CHECK (action = 'hold' OR (list = 'block' AND match <> 'author')),
      CONSTRAINT sender_rules_once UNIQUE NULLS NOT DISTINCT (domain_id, webhook_id, match, value)
    )
  `
  yield* sql`CREATE INDEX sender_rules_webhook ON sender_rules (webhook_id) WHERE webhook_id IS NOT NULL`

  // Why a rule holds a delivery. Null once it is released.
  yield* sql`
    ALTER TABLE deliveries ADD COLUMN hold_reason text,
      -- Without a scan of the rows that are there, in which it is null.
      ADD CONSTRAINT deliveries_hold_reason CHECK (hold_reason IN ('sender_not_allowed', 'sender_blocked')) NOT VALID
  `

  yield* sql`
    CREATE INDEX deliveries_held_by_rule ON deliveries (domain_id, position) WHERE hold_reason IS NOT NULL
  `

  // Events of a day that a rule holds.
  yield* sql`ALTER TABLE domain_days ADD COLUMN held integer NOT NULL DEFAULT 0`

  yield* sql`ALTER TABLE refusals DROP CONSTRAINT refusals_reason_check`
  yield* sql`
    ALTER TABLE refusals ADD CONSTRAINT refusals_reason_check CHECK (reason IN (
      'unknown', 'not_verified', 'disabled', 'held_elsewhere', 'rejected_route', 'sender_blocked', 'quota',
      'sender_quota', 'other_recipient', 'too_large', 'recipients', 'relay', 'loop', 'rate', 'timeout', 'tls',
      'protocol', 'storage', 'shutdown'
    )) NOT VALID
  `
})
