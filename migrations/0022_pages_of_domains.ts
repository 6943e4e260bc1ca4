import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A page of a workspace's domains, newest first.
  yield* sql`CREATE INDEX domains_of_workspace ON domains (workspace_id, id)`
})
