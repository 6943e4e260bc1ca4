import { Deferred, Effect, Schema, type Scope } from "effect"
import type { WebhookId } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"

const mebibyte = 1024 * 1024

/** Memory of all requests in other formats than Inlet's, of those of one workspace, and of those of one webhook. */
const mostBytes = 64 * mebibyte
const mostBytesOfWorkspace = 32 * mebibyte
const mostBytesOfWebhook = 16 * mebibyte

/** What a webhook, and a workspace, must leave for those that have nothing. */
const leftByWebhook = 8 * mebibyte
const leftByWorkspace = 16 * mebibyte

/** The memory of a request while it is made, as a multiple of its message: the message twice, its parts, and the body. */
const multiple = 4

/** The longest wait for memory, within the lease of the delivery. */
const longestWait = "10 seconds"

/** Other requests had the memory for too long. The delivery is given back and not counted as tried. */
export class Crowded extends Schema.TaggedError<Crowded>()("Crowded", {}) {}

/** Whose request it is. */
export interface Owner {
  readonly workspaceId: WorkspaceId
  readonly webhookId: WebhookId
}

interface Grant extends Owner {
  bytes: number
  state: "waiting" | "granted" | "ended"
  readonly granted: Deferred.Deferred<void>
}

/** The memory of one request. */
export interface RequestMemory {
  /** Waits for memory to make the request of a message. */
  readonly reserve: (messageBytes: number) => Effect.Effect<void, Crowded>
  /** Frees all but the bytes of the body, which is sent next. */
  readonly keep: (bytes: number) => void
}

/**
 * Makes a function that opens the memory of a request, which is freed at the end of its scope. Webhooks that hang can't
 * take all of it from others, also many of one workspace.
 */
export const make = Effect.sync(() => {
  let used = 0
  const usedBy = new Map<string, number>()
  const waiting = new Set<Grant>()
  const of = (id: string) => usedBy.get(id) ?? 0

  const add = ({ webhookId, workspaceId }: Owner, bytes: number) => {
    used += bytes
    for (const id of [webhookId, workspaceId]) {
      const sum = of(id) + bytes
      if (sum === 0) usedBy.delete(id)
      else usedBy.set(id, sum)
    }
  }

  /** What bars a request: its own share, or the memory of all. */
  const barrier = ({ bytes, webhookId, workspaceId }: Grant): "own" | "all" | undefined => {
    const isFirst = of(webhookId) === 0
    const ofWorkspace = of(workspaceId)
    const left = ofWorkspace === 0 ? 0 : isFirst ? leftByWorkspace : leftByWorkspace + leftByWebhook
    if (of(webhookId) + bytes > mostBytesOfWebhook) return "own"
    if (ofWorkspace + bytes > mostBytesOfWorkspace - (isFirst ? 0 : leftByWebhook)) return "own"
    return used + bytes > mostBytes - left ? "all" : undefined
  }

  /** Serves in order of arrival. One that the memory of all bars lets only those pass that have nothing yet. */
  const serve = () => {
    let isBarred = false
    for (const grant of waiting) {
      if (isBarred && of(grant.webhookId) > 0) continue
      const by = barrier(grant)
      if (by === "all") isBarred = true
      if (by !== undefined) continue
      waiting.delete(grant)
      grant.state = "granted"
      add(grant, grant.bytes)
      Deferred.doneUnsafe(grant.granted, Effect.void)
    }
  }

  const shrink = (grant: Grant, bytes: number) => {
    if (grant.state !== "granted" || bytes >= grant.bytes) return
    add(grant, bytes - grant.bytes)
    grant.bytes = bytes
    serve()
  }

  const end = (grant: Grant) => {
    // Those behind it may pass now.
    if (waiting.delete(grant)) serve()
    shrink(grant, 0)
    grant.state = "ended"
  }

  return (owner: Owner): Effect.Effect<RequestMemory, never, Scope.Scope> =>
    Effect.map(
      Effect.acquireRelease(
        Effect.sync((): Grant => ({ ...owner, bytes: 0, state: "waiting", granted: Deferred.makeUnsafe<void>() })),
        (grant) => Effect.sync(() => end(grant))
      ),
      (grant) => ({
        reserve: (messageBytes) =>
          Effect.suspend(() => {
            grant.bytes = Math.min(multiple * messageBytes, mostBytesOfWebhook)
            waiting.add(grant)
            serve()
            return Deferred.await(grant.granted)
          }).pipe(Effect.timeoutOrElse({ duration: longestWait, orElse: () => Effect.fail(new Crowded()) })),
        keep: (bytes) => shrink(grant, bytes)
      })
    )
})
