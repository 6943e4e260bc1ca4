import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A name is taken with the money. Before, several paid orders could wait for one: all but the first are given back.
  yield* sql`
    UPDATE orders SET status = 'failed', failure = 'The name was taken meanwhile', refund_due = true, due_at = now()
    WHERE status = 'paid' AND EXISTS (
      SELECT 1 FROM orders other WHERE other.name = orders.name AND other.id <> orders.id AND (
        other.status IN ('registering', 'provisioning') OR (other.status = 'paid' AND other.id < orders.id)
      )
    )
  `
  yield* sql`
    CREATE UNIQUE INDEX orders_one_holder ON orders (name) WHERE status IN ('paid', 'registering', 'provisioning')
  `
  yield* sql`DROP INDEX orders_one_registration`
  // The list of a workspace's orders.
  yield* sql`CREATE INDEX orders_workspace ON orders (workspace_id, id)`

  // Requests with an Idempotency-Key, and their answers.
  yield* sql`
    CREATE TABLE idempotency_keys (
      workspace_id  uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      route         text NOT NULL,
      key           text NOT NULL,
      -- SHA-256 of the request.
      fingerprint   bytea NOT NULL,
      begun_at      timestamptz NOT NULL DEFAULT now(),
      -- Null while the request is under way.
      answer        text,
      PRIMARY KEY (workspace_id, route, key)
    )
  `
  yield* sql`CREATE INDEX idempotency_keys_age ON idempotency_keys (begun_at)`
})
