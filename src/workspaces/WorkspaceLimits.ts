import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { TooManyRequests } from "../model/ApiError.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import * as DailyCounts from "./DailyCounts.ts"

/** What has a request sent to a URL that may never have agreed to it. */
export type Action = "replay" | "webhook change"

const minute = 60_000

/** Workspaces whose last minute is kept; beyond this, those that did nothing in it are forgotten. */
const mostKept = 1_000

/** Limits replays and webhook changes of a workspace: per minute in this process, per UTC day in all processes. */
export class WorkspaceLimits extends Context.Service<
  WorkspaceLimits,
  {
    /** Counts one more, or refuses it. */
    spend(action: Action, workspaceId: WorkspaceId): Effect.Effect<void, TooManyRequests | SqlError>
  }
>()("inlet/workspaces/WorkspaceLimits") {
  static readonly layer = Layer.effect(
    WorkspaceLimits,
    Effect.gen(function* () {
      const counts = DailyCounts.make(yield* SqlClient.SqlClient)
      const clock = yield* Clock.Clock
      const { replays, webhookChanges } = yield* Settings.actions
      const limits = { replay: replays, "webhook change": webhookChanges }

      /** When the actions of the last minute were, the oldest first. */
      const recent = new Map<string, Array<number>>()

      /** Milliseconds to wait; counted where there are none. */
      const waitFor = (key: string, most: number) => {
        // Goes on whatever the clock is set to.
        const now = Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
        const times = (recent.get(key) ?? []).filter((time) => time > now - minute)
        const oldest = times[0]
        if (times.length >= most && oldest !== undefined) return oldest + minute - now
        if (recent.size >= mostKept) {
          for (const [other, [...of]] of recent) if ((of.at(-1) ?? 0) <= now - minute) recent.delete(other)
        }
        recent.set(key, [...times, now])
        return 0
      }

      const spend = Effect.fn("WorkspaceLimits.spend")(function* (action: Action, workspaceId: WorkspaceId) {
        const { perDay, perMinute } = limits[action]
        const wait = perMinute === 0 ? 0 : waitFor(`${action} ${workspaceId}`, perMinute)
        if (wait > 0) {
          const retryAfter = Math.ceil(wait / 1_000)
          return yield* new TooManyRequests({
            message: `A workspace may make ${perMinute} ${action}s a minute. Retry in ${retryAfter} s`,
            retryAfter
          })
        }
        if (perDay === 0 || (yield* counts.reserve(action, workspaceId, perDay))) return
        return yield* new TooManyRequests({
          message: `A workspace may make ${perDay} ${action}s a day. Retry after midnight UTC`,
          retryAfter: yield* counts.untilMidnight
        })
      })

      return WorkspaceLimits.of({ spend })
    })
  )
}
