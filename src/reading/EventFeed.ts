import { Context, Effect, Layer, PubSub, Schedule, Stream } from "effect"
import type { DomainId } from "../model/Domain.ts"

/**
 * Says within this process that a domain has new events, so that nobody here
 * waits for a poll. Other processes find the events by polling.
 */
export class EventFeed extends Context.Service<
  EventFeed,
  {
    announce(domainId: DomainId): Effect.Effect<void>
    readonly announcements: Stream.Stream<DomainId>
    /** Each time it is worth looking for new events of a domain: now, after an announcement, and every second. */
    occasions(domainId: DomainId): Stream.Stream<void>
  }
>()("inlet/reading/EventFeed") {
  static readonly layer = Layer.effect(
    EventFeed,
    Effect.gen(function* () {
      // Who is slow misses announcements, not events: it looks at the table after each.
      const feed = yield* PubSub.sliding<DomainId>(1_024)
      const announcements = Stream.fromPubSub(feed)
      return EventFeed.of({
        announce: (domainId) => Effect.asVoid(PubSub.publish(feed, domainId)),
        announcements,
        occasions: (domainId) =>
          Stream.merge(
            Stream.filter(announcements, (announced) => announced === domainId),
            Stream.fromSchedule(Schedule.spaced("1 second"))
          ).pipe(
            Stream.map(() => undefined),
            Stream.prepend([undefined]),
            Stream.buffer({ capacity: 1, strategy: "sliding" })
          )
      })
    })
  )
}
