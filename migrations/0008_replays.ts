import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The next step of a webhook that catches up after failures, the number of deliveries that may be due at once, and
  // the position it has reached. Null while nothing is to be caught up.
  yield* sql`
    ALTER TABLE domains
      ADD COLUMN webhook_recovering_at timestamptz,
      ADD COLUMN webhook_recovery_step integer NOT NULL DEFAULT 1,
      ADD COLUMN webhook_recovery_position bigint NOT NULL DEFAULT 0
  `
  // The worker looks for webhooks to catch up every second.
  yield* sql`CREATE INDEX domains_to_recover ON domains (webhook_recovering_at) WHERE webhook_recovering_at IS NOT NULL`

  // The scheduled time of an attempt that is made before it. A failure of such an attempt puts the delivery back to
  // this time. Null in old rows, and for every attempt on schedule.
  yield* sql`ALTER TABLE deliveries ADD COLUMN retry_at timestamptz`

  // A job that delivers the dead, held or delivered events of a domain again, oldest first, a few at a time.
  yield* sql`
    CREATE TABLE replays (
      id           uuid PRIMARY KEY,
      domain_id    uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
      -- Which deliveries.
      status       text NOT NULL CHECK (status IN ('dead', 'held', 'delivered')),
      since        timestamptz,
      until        timestamptz,
      recipient    text,
      state        text NOT NULL CHECK (state IN ('running', 'done', 'stopped')),
      -- The counted deliveries, those made due so far, and what became of them.
      total        integer NOT NULL,
      queued       integer NOT NULL DEFAULT 0,
      delivered    integer NOT NULL DEFAULT 0,
      failed       integer NOT NULL DEFAULT 0,
      -- The deliveries that were made due and have no final outcome yet, at most as many as step.
      open         uuid[] NOT NULL DEFAULT '{}',
      step         integer NOT NULL DEFAULT 1,
      -- The job goes from one position to the other, both exclusive.
      position     bigint NOT NULL,
      below        bigint NOT NULL,
      -- The job with the earliest time is next. A process locks the row while it works on it.
      turn_at      timestamptz NOT NULL DEFAULT now(),
      created_at   timestamptz NOT NULL DEFAULT now(),
      finished_at  timestamptz
    )
  `
  // A domain has one running job at a time.
  yield* sql`CREATE UNIQUE INDEX replays_one_running ON replays (domain_id) WHERE state = 'running'`
  yield* sql`CREATE INDEX replays_turn ON replays (turn_at) WHERE state = 'running'`
  // The list of a domain's jobs.
  yield* sql`CREATE INDEX replays_domain ON replays (domain_id, id)`
  yield* sql`CREATE INDEX replays_age ON replays (finished_at) WHERE finished_at IS NOT NULL`
})
