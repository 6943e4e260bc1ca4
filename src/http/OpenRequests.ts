import { Context, Effect, Layer, type Scope } from "effect"
import { TooManyRequests } from "../model/ApiError.ts"
import type { DomainId } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"

/** Waits and streams a workspace may have open at once in one process. */
const perWorkspace = 20

/** Counts the requests that are held open, so that one workspace or demo inbox can't use up the server. */
export class OpenRequests extends Context.Service<
  OpenRequests,
  {
    /** A place that is kept until the scope closes, which for a request is when its answer has ended. */
    take(owner: WorkspaceId | DomainId, most?: number): Effect.Effect<void, TooManyRequests, Scope.Scope>
  }
>()("inlet/http/OpenRequests") {
  static readonly layer = Layer.sync(OpenRequests, () => {
    const counts = new Map<string, number>()

    const enter = Effect.fnUntraced(function* (owner: string, most: number) {
      const count = counts.get(owner) ?? 0
      if (count >= most) {
        return yield* new TooManyRequests({
          message: `${most} waits and streams are open here; close one, or ask again when one has ended`,
          retryAfter: 5
        })
      }
      counts.set(owner, count + 1)
    })

    const leave = (owner: string) =>
      Effect.sync(() => {
        const left = (counts.get(owner) ?? 1) - 1
        if (left === 0) counts.delete(owner)
        else counts.set(owner, left)
      })

    return OpenRequests.of({
      take: (owner, most = perWorkspace) => Effect.acquireRelease(enter(owner, most), () => leave(owner))
    })
  })
}
