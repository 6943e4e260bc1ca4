import { Context, Effect, Layer, PubSub, Schedule, Schema, Stream } from "effect"
import { Notifications } from "../Database.ts"
import { DomainId } from "../model/Domain.ts"
import * as EventRows from "./EventRows.ts"

/**
 * Says that a domain has new events, in this process or, through the database,
 * in another one, so that nobody waits for a poll. Whoever misses it, while the
 * database is away, finds the events by polling.
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
      const listen = yield* Notifications
      const heard = listen(EventRows.channel).pipe(
        Stream.filter(Schema.is(DomainId)),
        Stream.runForEach((domainId) => PubSub.publish(feed, domainId)),
        Effect.catchCause((cause) => Effect.logDebug("The database is not listened to; it is tried again", cause))
      )
      yield* Effect.forkScoped(Effect.repeat(heard, Schedule.spaced("5 seconds")))
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
