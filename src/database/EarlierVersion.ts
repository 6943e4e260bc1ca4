import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { Conflict } from "../model/ApiError.ts"

/** The name of this process's connections. Those of the previous version, which knows the catch-all alone, are "inlet". */
export const applicationName = "inlet with webhooks"

/**
 * Fails while processes of the previous version are connected, as in the time of an upgrade. They would send mail of
 * every pattern to the catch-all, and in no other format.
 */
export const refuse = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const connected = yield* sql`
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'inlet' LIMIT 1
  `
  if (connected.length === 0) return
  return yield* new Conflict({
    message:
      "The service is being upgraded: a process of the previous version still runs, which knows the catch-all alone. Try again once the operator has stopped it"
  })
})
