import { Context, Effect, Layer } from "effect"
import type { WebhookId } from "../model/Webhook.ts"
import type { SealedDelivery } from "./Lease.ts"

/**
 * Passes new deliveries to the worker of the same process. The writer reserves slots, writes as many rows as leased,
 * and starts them after the commit. Such a delivery is not claimed, and its payload is not read back. Deliveries
 * without a slot are due in the table and claimed.
 */
export class Handover extends Context.Service<
  Handover,
  {
    /** Reserves slots for up to `most` deliveries of a webhook. Each slot ends with `begin` or `release`. */
    reserve(webhookId: WebhookId, most: number): Effect.Effect<number>
    /** Starts deliveries that are committed as leased. Each uses a reserved slot of its webhook. */
    begin(leased: ReadonlyArray<SealedDelivery>): Effect.Effect<void>
    /** Releases slots without a leased delivery. */
    release(webhookId: WebhookId, places: number): Effect.Effect<void>
    /** Accepts no more deliveries, releases waiting ones, and waits up to 16 s for running requests. */
    readonly drain: Effect.Effect<void>
  }
>()("inlet/delivery/Handover") {
  /** For a process without a worker. */
  static readonly layerNone = Layer.succeed(Handover, {
    reserve: () => Effect.succeed(0),
    begin: () => Effect.void,
    release: () => Effect.void,
    drain: Effect.void
  })
}
