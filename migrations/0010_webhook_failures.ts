import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // How often a webhook has failed since it only fails, on how many UTC days, and on which one last. They count no
  // further than the pause needs. A webhook that has failed since an older version counts from the upgrade.
  yield* sql`
    ALTER TABLE domains
      ADD COLUMN webhook_failures integer NOT NULL DEFAULT 0,
      ADD COLUMN webhook_failure_days integer NOT NULL DEFAULT 0,
      ADD COLUMN webhook_failed_on date
  `
})
