import { Context, Effect, Layer } from "effect"
import type { DomainId } from "../model/Domain.ts"
import type { SealedDelivery } from "./Lease.ts"

/**
 * Passes new deliveries to the worker of the same process. The writer reserves places, writes as many rows as leased,
 * and begins them after the commit. Such a delivery is not claimed, and its payload is not read back. Deliveries
 * without a place are due like any other, and claimed.
 */
export class Handover extends Context.Service<
  Handover,
  {
    /** Reserves places for up to `most` deliveries of a domain. Each place ends with `begin` or `release`. */
    reserve(domainId: DomainId, most: number): Effect.Effect<number>
    /** Begins deliveries that are committed as leased. Each takes one of the places reserved for its domain. */
    begin(leased: ReadonlyArray<SealedDelivery>): Effect.Effect<void>
    /** Gives up places for which no delivery was leased. */
    release(domainId: DomainId, places: number): Effect.Effect<void>
    /** Stops taking deliveries: gives back those that wait, and lets requests end within 20 seconds. */
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
