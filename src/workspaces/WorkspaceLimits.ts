import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { TooManyRequests } from "../model/ApiError.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import * as DailyCounts from "./DailyCounts.ts"

/** Actions that send requests to a URL whose owner may not have agreed, or to the registrars, whose account all share. */
export type Action = "replay" | "replay job" | "webhook change" | "domain search"

const plural: { readonly [Of in Action]: string } = {
  replay: "replays",
  "replay job": "replay jobs",
  "webhook change": "webhook changes",
  "domain search": "domain searches"
}

/** Replay jobs beside the limit of replays, because one of them sends very many requests. */
const replayJobs = { perMinute: 0, perDay: 20 }

/** Searches and purchases, each of which asks the registrars for quotes. A vendor allows some 50 calls a minute. */
const domainSearches = { perMinute: 60, perDay: 1_000 }

const minute = 60_000

/** Maximum workspaces with recorded actions. Beyond it, those without an action in the last minute are forgotten. */
const mostKept = 1_000

/** Limits replays, webhook changes and domain searches of a workspace: per minute in this process, per UTC day in all processes. */
export class WorkspaceLimits extends Context.Service<
  WorkspaceLimits,
  {
    /** Counts one action, or refuses it. */
    spend(action: Action, workspaceId: WorkspaceId): Effect.Effect<void, TooManyRequests | SqlError>
    /** Takes back the last counted action, which a conflict kept from changing anything. */
    giveBack(action: Action, workspaceId: WorkspaceId): Effect.Effect<void, SqlError>
  }
>()("inlet/workspaces/WorkspaceLimits") {
  static readonly layer = Layer.effect(
    WorkspaceLimits,
    Effect.gen(function* () {
      const counts = DailyCounts.make(yield* SqlClient.SqlClient)
      const clock = yield* Clock.Clock
      const { replays, webhookChanges } = yield* Settings.actions
      const limits = {
        replay: replays,
        "replay job": replays.perDay === 0 ? replays : replayJobs,
        "webhook change": webhookChanges,
        "domain search": domainSearches
      }

      /** The times of the last minute's actions, oldest first. */
      const recent = new Map<string, Array<number>>()

      /** Milliseconds to wait, or none, in which case the action is counted. */
      const waitFor = (key: string, most: number) => {
        // A monotonic clock.
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
            message: `A workspace may make ${perMinute} ${plural[action]} a minute. Retry in ${retryAfter} s`,
            retryAfter
          })
        }
        if (perDay === 0 || (yield* counts.reserve(action, workspaceId, perDay))) return
        return yield* new TooManyRequests({
          message: `A workspace may make ${perDay} ${plural[action]} a day. Retry after midnight UTC`,
          retryAfter: yield* counts.untilMidnight
        })
      })

      const giveBack = Effect.fn("WorkspaceLimits.giveBack")(function* (action: Action, workspaceId: WorkspaceId) {
        recent.get(`${action} ${workspaceId}`)?.pop()
        yield* counts.giveBack(action, workspaceId)
      })

      return WorkspaceLimits.of({ spend, giveBack })
    })
  )
}
