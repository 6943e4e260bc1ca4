import { Context, Effect, Latch, Layer, Queue, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { EventFeed } from "../delivery/EventFeed.ts"
import type { DomainId } from "../model/Domain.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"

/** Domains that one statement looks at. */
const mostDomains = 1_000

/** A domain that waits and streams of this process watch. */
interface Watched {
  readonly wakes: Set<() => void>
  /** The last position that was seen, or `gone`. Undefined before the first look. */
  position: string | undefined
}

/**
 * Tells the waits and streams of this process when their domains may have new events. Announcements do that at once.
 * Those that are lost while the database is unreachable are made up for by one look a second for all domains that are
 * watched, because a look for each wait would cost a core for some thousand agents that wait.
 */
export class EventNews extends Context.Service<
  EventNews,
  {
    /** Emits now, and when the domain may have new events, is gone, or can't be looked at. */
    of(domainId: DomainId): Stream.Stream<void>
  }
>()("inlet/events/EventNews") {
  static readonly layer = Layer.effect(
    EventNews,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const feed = yield* EventFeed
      const watched = new Map<DomainId, Watched>()
      const isWatching = yield* Latch.make(false)

      const wake = (domainId: DomainId) => {
        for (const one of watched.get(domainId)?.wakes ?? []) one()
      }
      yield* feed.listen(({ domainId }) => wake(domainId))

      const lookAt = Effect.fnUntraced(function* (ids: ReadonlyArray<DomainId>) {
        const rows = yield* sql<{ readonly id: DomainId; readonly position: string }>`
          SELECT domains.id, coalesce(position, 0)::text AS position
          FROM domains LEFT JOIN event_positions ON event_positions.domain_id = domains.id
          WHERE domains.id = ANY(${ids}::uuid[])
        `
        const found = new Map(rows.map(({ id, position }) => [id, position]))
        for (const id of ids) {
          const known = watched.get(id)
          const position = found.get(id) ?? "gone"
          if (known === undefined || known.position === position) continue
          known.position = position
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
        { says: "New events were not looked for", level: "Debug" },
        isWatching.await.pipe(Effect.andThen(Effect.sleep("1 second")), Effect.andThen(look))
      )

      const watch = (domainId: DomainId, one: () => void) => {
        const known = watched.get(domainId) ?? { wakes: new Set(), position: undefined }
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

      return EventNews.of({
        of: (domainId) =>
          Stream.callback<void>(
            (queue) =>
              Effect.acquireRelease(
                Effect.sync(() => watch(domainId, () => void Queue.offerUnsafe(queue, undefined))),
                (unwatch) => Effect.sync(unwatch)
              ),
            { bufferSize: 1, strategy: "sliding" }
          )
      })
    })
  )
}
