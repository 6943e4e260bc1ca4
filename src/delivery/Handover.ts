import { Context, Effect, Layer } from "effect"
import type { DomainId } from "../model/Domain.ts"
import type { SealedDelivery } from "./Lease.ts"

/**
 * The short way from a writer of deliveries to the worker of the same process:
 * rows are written as leased where the worker has a place for them, and begin at
 * the commit. So nothing is claimed, and no payload read back. A row without a
 * place is due like any other, and claimed.
 */
export class Handover extends Context.Service<
  Handover,
  {
    /**
     * Runs `write`, which makes up to `most` deliveries of a domain, of which it may
     * write `places` as leased. It returns the leased ones.
     */
    within<A extends { readonly leased: ReadonlyArray<SealedDelivery> }, E, R>(
      domainId: DomainId,
      most: number,
      write: (places: number) => Effect.Effect<A, E, R>
    ): Effect.Effect<A, E, R>
    /** Takes nothing any more: waiting deliveries are given back, and requests have 20 seconds to end. */
    readonly drain: Effect.Effect<void>
  }
>()("inlet/delivery/Handover") {
  /** Where no worker runs in this process. */
  static readonly layerNone = Layer.succeed(Handover, {
    within: (_domainId, _most, write) => write(0),
    drain: Effect.void
  })
}
