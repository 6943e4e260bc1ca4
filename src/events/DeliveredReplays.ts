import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Conflict, TooManyRequests } from "../model/ApiError.ts"
import { deliveredPerDay } from "../model/Replay.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import * as DailyCounts from "../workspaces/DailyCounts.ts"

const action = "replayed delivered event"

const figure = (count: number) => count.toLocaleString("en")

/**
 * Limits the delivered events that a workspace's jobs send again on a UTC day, across all processes. Without it jobs
 * could send the same events to a URL over and over. Dead and held events never arrived, so they do not count.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const counts = DailyCounts.make(sql)
  const { replays } = yield* Settings.actions
  const isLimited = replays.perDay > 0

  /** Counts the events of a job, all or none. Part of the transaction that starts it. */
  const reserve = Effect.fn("DeliveredReplays.reserve")(function* (workspaceId: WorkspaceId, total: number) {
    if (!isLimited || total === 0) return
    const narrow = "Narrow it with since, until or recipient"
    const rule = `A workspace may replay ${figure(deliveredPerDay)} delivered events a day in jobs`
    if (total > deliveredPerDay) {
      return yield* new Conflict({ message: `${rule}, and this one has ${figure(total)}. ${narrow}` })
    }
    if (yield* counts.reserve(action, workspaceId, deliveredPerDay, total)) return
    const left = deliveredPerDay - (yield* counts.used(action, workspaceId))
    return yield* new TooManyRequests({
      message: `${rule}. This one has ${figure(total)}, and ${figure(left)} are left today. ${narrow}, or retry after midnight UTC`,
      retryAfter: yield* counts.untilMidnight
    })
  })

  /** Returns what the jobs in the CTE `stopped` have not sent to the day on which it was counted. */
  const release = sql`
    UPDATE client_limits SET count = greatest(count - (stopped.total - stopped.queued), 0)
    FROM stopped JOIN domains ON domains.id = stopped.domain_id
    WHERE stopped.status = ${"delivered"} AND client_limits.action = ${action}
      AND client_limits.client = domains.workspace_id::text
      AND client_limits.day = (stopped.created_at AT TIME ZONE 'UTC')::date
  `

  return { reserve, release }
})
