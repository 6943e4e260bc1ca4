import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as AgedIds from "../database/AgedIds.ts"

/** Days that refusals are kept if mail is kept forever. */
const daysWithoutRetention = 90

/**
 * Removes refusals older than the retention, up to so many of each ledger. Succeeds with the larger number. Ids begin
 * with the time, so the primary key finds them.
 */
export const removeSome = (sql: SqlClient.SqlClient, retentionDays: number, most: number) => {
  const days = retentionDays === 0 ? daysWithoutRetention : retentionDays
  const bound = AgedIds.bound(sql, days)
  return Effect.gen(function* () {
    const known = yield* sql`
      DELETE FROM refusals WHERE id = ANY(ARRAY(
        SELECT id FROM refusals WHERE id < ${bound} ORDER BY id LIMIT ${most} FOR UPDATE SKIP LOCKED
      ))
      RETURNING 1 AS gone
    `
    const unknown = yield* sql`
      DELETE FROM unknown_refusals WHERE id = ANY(ARRAY(
        SELECT id FROM unknown_refusals WHERE id < ${bound} ORDER BY id LIMIT ${most} FOR UPDATE SKIP LOCKED
      ))
      RETURNING 1 AS gone
    `
    return Math.max(known.length, unknown.length)
  })
}

/** Removes the counts of days that are no longer shown. */
export const removeDays = (sql: SqlClient.SqlClient, keptDays: number) =>
  sql`DELETE FROM domain_day_refusals WHERE day < (now() AT TIME ZONE 'UTC')::date - ${keptDays}::int`
