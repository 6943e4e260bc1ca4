import { Context, Effect, Layer, type Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as DomainNews from "../delivery/DomainNews.ts"
import type { DomainId } from "../model/Domain.ts"

/** Tells the waits and streams of this process when their domains may have new events. */
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
      const of = yield* DomainNews.make({
        says: "New events were not looked for",
        statesOf: (ids) => sql<DomainNews.DomainState>`
          SELECT domains.id, coalesce(position, 0)::text AS state
          FROM domains LEFT JOIN event_positions ON event_positions.domain_id = domains.id
          WHERE domains.id = ANY(${ids}::uuid[])
        `
      })
      return EventNews.of({ of })
    })
  )
}
