import { Context, Effect, Exit, Layer } from "effect"
import type { DomainId } from "../model/Domain.ts"
import type { SealedDelivery } from "./Lease.ts"

/** The plain functions of a handover, for the path of every message. */
export interface Places {
  /**
   * Places for up to `most` deliveries of a domain that are about to be written: so many
   * of them may be written as leased. Each place is to be given up, by `begin` or by `release`.
   */
  reserve(domainId: DomainId, most: number): number
  /** Begins what is committed as leased; each takes one of the places that were reserved for its domain. */
  begin(leased: ReadonlyArray<SealedDelivery>): void
  /** Gives up places for which no delivery was leased. */
  release(domainId: DomainId, places: number): void
}

const within =
  ({ begin, release, reserve }: Places): Handover["Service"]["within"] =>
  (domainId, most, write) =>
    Effect.suspend(() => {
      const places = reserve(domainId, most)
      return Effect.onExit(write(places), (exit) =>
        Effect.sync(() => {
          const leased = Exit.isSuccess(exit) ? exit.value.leased : []
          begin(leased)
          release(domainId, places - leased.length)
        })
      )
    })

/**
 * The short way from a writer of deliveries to the worker of the same process:
 * rows are written as leased where the worker has a place for them, and begin at
 * the commit. So nothing is claimed, and no payload read back. A row without a
 * place is due like any other, and claimed.
 */
export class Handover extends Context.Service<
  Handover,
  Places & {
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
  static readonly make = (places: Places, drain: Effect.Effect<void>) =>
    Handover.of({ ...places, within: within(places), drain })

  /** Where no worker runs in this process. */
  static readonly layerNone = Layer.succeed(
    Handover,
    Handover.make({ reserve: () => 0, begin: () => {}, release: () => {} }, Effect.void)
  )
}
