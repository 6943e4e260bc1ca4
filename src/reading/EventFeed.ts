import { Context, Effect, Layer, PubSub, Schedule, Schema, Stream } from "effect"
import { Notifications } from "../Database.ts"
import { DomainId } from "../model/Domain.ts"

/** A domain has new events, of which some may be due for whoever claims them. */
export interface Announcement {
  readonly domainId: DomainId
  readonly isDue: boolean
}

/**
 * Says that a domain has new events, in this process or, through the database,
 * in another one, so that nobody waits for a poll. Whoever misses it, while the
 * database is away, finds the events by polling.
 */
export class EventFeed extends Context.Service<
  EventFeed,
  {
    announce(domainId: DomainId, about: { readonly isDue: boolean }): Effect.Effect<void>
    readonly announcements: Stream.Stream<Announcement>
    /** Each time it is worth looking for new events of a domain: now, after an announcement, and every second. */
    occasions(domainId: DomainId): Stream.Stream<void>
  }
>()("inlet/reading/EventFeed") {
  /** Where the database says which domains have new events: the domain's id, and ` due` behind it where some are. */
  static readonly channel = "inlet_events"

  static readonly layer = Layer.effect(
    EventFeed,
    Effect.gen(function* () {
      // Who is slow misses announcements, not events: it looks at the table after each.
      const feed = yield* PubSub.sliding<Announcement>(1_024)
      const announcements = Stream.fromPubSub(feed)
      const listen = yield* Notifications
      const heard = listen(EventFeed.channel).pipe(
        Stream.runForEach((text) => {
          const [domainId, due] = text.split(" ")
          return Schema.is(DomainId)(domainId) ? PubSub.publish(feed, { domainId, isDue: due === "due" }) : Effect.void
        }),
        Effect.catchCause((cause) => Effect.logDebug("The database is not listened to; it is tried again", cause))
      )
      yield* Effect.forkScoped(Effect.repeat(heard, Schedule.spaced("5 seconds")))
      return EventFeed.of({
        announce: (domainId, { isDue }) => Effect.asVoid(PubSub.publish(feed, { domainId, isDue })),
        announcements,
        occasions: (domainId) =>
          Stream.merge(
            Stream.filter(announcements, (announced) => announced.domainId === domainId),
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
