import { Effect, Schema, type Scope, Semaphore } from "effect"
import type { WebhookId } from "../model/Webhook.ts"

/** Memory of all requests in other formats than Inlet's, and of those of one webhook. */
const mostBytes = 64 * 1024 * 1024
const mostBytesOfWebhook = mostBytes / 4

/** The memory of a request, as a multiple of its message: the message twice, its parts, and the body. */
const multiple = 4

/** The longest wait for memory, within the lease of the delivery. */
const longestWait = "10 seconds"

/** Other requests had the memory for too long. The delivery is given back and not counted as tried. */
export class Crowded extends Schema.TaggedError<Crowded>()("Crowded", {}) {}

/**
 * Makes a function that reserves memory for a message until its scope ends. A webhook that hangs can't take all of it
 * from others.
 */
export const make = Effect.map(Semaphore.make(mostBytes), (all) => {
  const own = new Map<WebhookId, { readonly permits: Semaphore.Semaphore; users: number }>()

  const enter = (webhookId: WebhookId) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const share = own.get(webhookId) ?? { permits: Semaphore.makeUnsafe(mostBytesOfWebhook), users: 0 }
        own.set(webhookId, share)
        share.users++
        return share
      }),
      (share) =>
        Effect.sync(() => {
          if (--share.users === 0) own.delete(webhookId)
        })
    )

  return (webhookId: WebhookId, messageBytes: number): Effect.Effect<void, Crowded, Scope.Scope> => {
    const bytes = Math.min(multiple * messageBytes, mostBytesOfWebhook)
    return Effect.flatMap(enter(webhookId), ({ permits }) => permits.takeScoped(bytes)).pipe(
      Effect.andThen(all.takeScoped(bytes)),
      Effect.timeoutOrElse({ duration: longestWait, orElse: () => Effect.fail(new Crowded()) })
    )
  }
})
