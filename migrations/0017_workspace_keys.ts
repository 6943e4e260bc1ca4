import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Keys of a workspace that may do less than its own, which stays in workspaces.
  yield* sql`
    CREATE TABLE workspace_keys (
      id            uuid PRIMARY KEY,
      workspace_id  uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      scope         text NOT NULL CHECK (scope IN ('read')),
      name          text,
      -- SHA-256 of the key, by which a request finds it: the key itself is shown once and not kept.
      hash          bytea NOT NULL UNIQUE,
      -- Its first characters, by which people tell it from others.
      begins        text NOT NULL,
      created_at    timestamptz NOT NULL DEFAULT now(),
      -- To the hour; null before its first use.
      last_used_at  timestamptz
    )
  `
  // The list of a workspace's keys.
  yield* sql`CREATE INDEX workspace_keys_workspace ON workspace_keys (workspace_id)`
})
