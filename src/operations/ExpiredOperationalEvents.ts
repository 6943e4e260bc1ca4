import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as AgedIds from "../database/AgedIds.ts"

/** Days that operational events are kept if mail is kept forever. */
const daysWithoutRetention = 90

/**
 * Removes operational events older than the retention, up to so many. Succeeds with their number. One whose period is
 * not as old stays, such as that of a certificate that has not ended, because it would be recorded again.
 */
export const removeSome = (sql: SqlClient.SqlClient, retentionDays: number, most: number) => {
  const days = retentionDays === 0 ? daysWithoutRetention : retentionDays
  const removed = sql`
    DELETE FROM operational_events WHERE id = ANY(ARRAY(
      SELECT id FROM operational_events WHERE id < ${AgedIds.bound(sql, days)} AND period < now() - make_interval(days => ${days})
      ORDER BY id LIMIT ${most} FOR UPDATE SKIP LOCKED
    ))
    RETURNING 1 AS gone
  `
  return Effect.map(removed, ({ length }) => length)
}
