import { NodeServices } from "@effect/platform-node"
import { Clock, ConfigProvider, Effect, FileSystem, Layer } from "effect"
import { DeliveryQueue } from "../../src/delivery/DeliveryQueue.ts"
import type { Lease } from "../../src/delivery/Lease.ts"
import type { Outcome } from "../../src/delivery/WebhookSender.ts"
import type { WebhookId } from "../../src/model/Webhook.ts"
import { Workspaces } from "../../src/workspaces/Workspaces.ts"

/** The settings of a process with these. */
export const settings = (env: Record<string, string> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })
      const every = { DATA_DIR: folder, SECRETS_KEY: Buffer.alloc(32, 5).toString("base64"), ...env }
      return ConfigProvider.layer(ConfigProvider.fromEnv({ env: every }))
    })
  ).pipe(Layer.provide(NodeServices.layer))

/** A second queue on the same database, as in another process. */
export const layer = (env: Record<string, string> = {}) =>
  Layer.mergeAll(DeliveryQueue.layer, Workspaces.layer).pipe(Layer.provide(settings(env)), Layer.fresh)

export const answered = (statusCode: number, retryAfter: string | null = null): Outcome => ({
  statusCode,
  error: statusCode >= 200 && statusCode < 300 ? null : `the webhook answered ${statusCode}`,
  durationMs: 12,
  responseBody: "said",
  retryAfter,
  isFinal: statusCode === 410
})

export const claimUpTo = Effect.fnUntraced(function* (
  most: number,
  { busy = new Map<WebhookId, number>(), mostBytes = 1_000_000, perWebhook = 1_000 } = {}
) {
  const queue = yield* DeliveryQueue
  let left = most
  const rooms = new Map<WebhookId, number>()
  const waiting = (yield* queue.waiting).map(({ webhookId }) => webhookId)
  const equalPart = Math.max(1, Math.floor(most / waiting.length))
  for (const webhookId of waiting) {
    const places = Math.min(left, equalPart, perWebhook - (busy.get(webhookId) ?? 0))
    if (places <= 0) continue
    rooms.set(webhookId, places)
    left -= places
  }
  return yield* queue.claim(rooms, mostBytes)
})

export const settle = Effect.fnUntraced(function* (lease: Lease, outcome: Outcome) {
  const queue = yield* DeliveryQueue
  const requestedAt = yield* Clock.currentTimeMillis
  yield* queue.settle(lease, outcome, requestedAt)
})
