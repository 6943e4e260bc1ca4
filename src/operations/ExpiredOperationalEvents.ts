import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Uuid7 from "../model/Uuid7.ts"

/** Days that operational events are kept if mail is kept forever. */
const daysWithoutRetention = 90

/** Removes operational events older than the retention, up to so many. Succeeds with their number. */
export const removeSome = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, retentionDays: number, most: number) {
  const days = retentionDays === 0 ? daysWithoutRetention : retentionDays
  const bound = Uuid7.lowestAt((yield* Clock.currentTimeMillis) - days * 86_400_000)
  const removed = yield* sql`
    DELETE FROM operational_events WHERE id = ANY(ARRAY(
      SELECT id FROM operational_events WHERE id < ${bound} ORDER BY id LIMIT ${most} FOR UPDATE SKIP LOCKED
    ))
    RETURNING 1 AS gone
  `
  return removed.length
})
