import { Context, Effect, Layer } from "effect"
import type { DomainId } from "../model/Domain.ts"
import type { SealedDelivery } from "./Lease.ts"

/**
 * The short way from the writer of deliveries to the worker of the same process:
 * rows are written as leased where the worker has a place for them, and begin at
 * the commit. So nothing is claimed, and no payload read back. A delivery without a
 * place is due like any other, and claimed. Its functions are plain, for they are on
 * the path of every message.
 */
export class Handover extends Context.Service<
  Handover,
  {
    /**
     * Places for up to `most` deliveries of a domain that are about to be written: so many
     * of them may be written as leased. Each place is to be given up, by `begin` or by `release`.
     */
    reserve(domainId: DomainId, most: number): number
    /** Begins what is committed as leased; each takes one of the places that were reserved for its domain. */
    begin(leased: ReadonlyArray<SealedDelivery>): void
    /** Gives up places for which no delivery was leased. */
    release(domainId: DomainId, places: number): void
    /** Takes nothing any more: what waits is given back, and requests have 20 seconds to end. */
    readonly drain: Effect.Effect<void>
  }
>()("inlet/delivery/Handover") {
  /** Where no worker runs in this process. */
  static readonly layerNone = Layer.succeed(Handover, {
    reserve: () => 0,
    begin: () => {},
    release: () => {},
    drain: Effect.void
  })
}
