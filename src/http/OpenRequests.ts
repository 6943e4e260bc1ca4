import { Context, Effect, Layer } from "effect"
import { TooManyRequests } from "../model/ApiError.ts"
import type { WorkspaceId } from "../model/Workspace.ts"

/** Waits and streams a workspace may have open at once in one process (decisions, section 8). */
const perWorkspace = 20

/** Counts the requests that are held open, so that one workspace can't use up the server. */
export class OpenRequests extends Context.Service<
  OpenRequests,
  {
    /** A place that is kept until it is released. */
    take(workspaceId: WorkspaceId): Effect.Effect<{ readonly release: Effect.Effect<void> }, TooManyRequests>
    /** A place for as long as the effect runs. */
    hold<A, E, R>(workspaceId: WorkspaceId, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | TooManyRequests, R>
  }
>()("inlet/http/OpenRequests") {
  static readonly layer = Layer.sync(OpenRequests, () => {
    const counts = new Map<WorkspaceId, number>()

    const take = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
      const count = counts.get(workspaceId) ?? 0
      if (count >= perWorkspace) {
        return yield* new TooManyRequests({
          message: `This workspace has ${perWorkspace} waits and streams open; close one, or ask again when one has ended`
        })
      }
      counts.set(workspaceId, count + 1)
      let released = false
      return {
        release: Effect.sync(() => {
          if (released) return
          released = true
          const left = (counts.get(workspaceId) ?? 1) - 1
          if (left === 0) counts.delete(workspaceId)
          else counts.set(workspaceId, left)
        })
      }
    })

    return OpenRequests.of({
      take,
      hold: (workspaceId, effect) =>
        Effect.acquireUseRelease(
          take(workspaceId),
          () => effect,
          ({ release }) => release
        )
    })
  })
}
