import { Effect, Latch, Queue, Stream } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { DomainId } from "../model/Domain.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { EventFeed } from "./EventFeed.ts"

/** Domains that one statement looks at. */
const mostDomains = 1_000

/** A domain that waits and streams of this process watch. */
interface Watched {
  readonly wakes: Set<() => void>
  /** The last state that was seen, or `gone`. Undefined before the first look. */
  state: string | undefined
}

/** A domain as a look finds it. */
export interface DomainState {
  readonly id: DomainId
  /** Differs from that of the look before if there is news. */
  readonly state: string
}

/**
 * Makes a function that tells the waits and streams of this process when their domains may have news. Announcements do
 * that at once. What no announcement tells is found by one look a second at all domains that are watched, because a
 * look for each wait would cost a core for some thousand clients that wait. The stream emits now, and when the domain
 * may have news, is gone, or can't be looked at.
 */
export const make = Effect.fnUntraced(function* ({
  says,
  statesOf
}: {
  /** The log's words for a failed look. */
  readonly says: string
  readonly statesOf: (ids: ReadonlyArray<DomainId>) => Effect.Effect<ReadonlyArray<DomainState>, SqlError>
}) {
  const feed = yield* EventFeed
  const watched = new Map<DomainId, Watched>()
  const isWatching = yield* Latch.make(false)

  const wake = (domainId: DomainId) => {
    for (const one of watched.get(domainId)?.wakes ?? []) one()
  }
  yield* feed.listen(({ domainId }) => wake(domainId))

  const lookAt = Effect.fnUntraced(function* (ids: ReadonlyArray<DomainId>) {
    const found = new Map((yield* statesOf(ids)).map(({ id, state }) => [id, state]))
    for (const id of ids) {
      const known = watched.get(id)
      const state = found.get(id) ?? "gone"
      if (known === undefined || known.state === state) continue
      known.state = state
      wake(id)
    }
  })

  const look = Effect.suspend(() => {
    const ids = [...watched.keys()]
    if (ids.length === 0) isWatching.closeUnsafe()
    const parts = Array.from({ length: Math.ceil(ids.length / mostDomains) }, (_, part) =>
      ids.slice(part * mostDomains, (part + 1) * mostDomains)
    )
    return Effect.forEach(parts, lookAt, { discard: true })
  }).pipe(
    // Their own statements tell the reason.
    Effect.tapError(() => Effect.sync(() => [...watched.keys()].forEach(wake)))
  )

  yield* BackgroundLoop.endless(
    { says, level: "Debug" },
    isWatching.await.pipe(Effect.andThen(Effect.sleep("1 second")), Effect.andThen(look))
  )

  const watch = (domainId: DomainId, one: () => void) => {
    const known = watched.get(domainId) ?? { wakes: new Set(), state: undefined }
    known.wakes.add(one)
    watched.set(domainId, known)
    isWatching.openUnsafe()
    // What came before this is found now.
    one()
    return () => {
      known.wakes.delete(one)
      if (known.wakes.size === 0 && watched.get(domainId) === known) watched.delete(domainId)
    }
  }

  return (domainId: DomainId): Stream.Stream<void> =>
    Stream.callback<void>(
      (queue) =>
        Effect.acquireRelease(
          Effect.sync(() => watch(domainId, () => void Queue.offerUnsafe(queue, undefined))),
          (unwatch) => Effect.sync(unwatch)
        ),
      { bufferSize: 1, strategy: "sliding" }
    )
})
