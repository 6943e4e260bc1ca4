import { Context, Effect, Layer, Queue, Schedule, Schema, type Scope, Stream } from "effect"
import { Notifications } from "../database/Database.ts"
import { DomainId } from "../model/Domain.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"

/** A domain has new events, and some of them may be due for a claim. */
export interface Announcement {
  readonly domainId: DomainId
  readonly isDue: boolean
}

/**
 * Says that a domain has new events, in this process or, through the database,
 * in another one, so that deliveries and held requests need no poll. An announcement that is
 * missed, while the database is away, is made up for by polling.
 */
export class EventFeed extends Context.Service<
  EventFeed,
  {
    /** On the path of every message: a plain function. */
    announce(domainId: DomainId, about: { readonly isDue: boolean }): void
    /** Calls a listener with every announcement, for as long as the scope is open. Mail waits for it: it returns at once, and never throws. */
    listen(listener: (announcement: Announcement) => void): Effect.Effect<void, never, Scope.Scope>
    /** Each time it is worth looking for new events of a domain: now, after an announcement, and every second. */
    occasions(domainId: DomainId): Stream.Stream<void>
  }
>()("inlet/delivery/EventFeed") {
  /** Where the database says which domains have new events: the domain's id, and ` due` behind it where some are. */
  static readonly channel = "inlet_events"

  static readonly layer = Layer.effect(
    EventFeed,
    Effect.gen(function* () {
      const listeners = new Set<(announcement: Announcement) => void>()
      const tell = (announcement: Announcement) => {
        for (const listener of listeners) listener(announcement)
      }
      const listen = (listener: (announcement: Announcement) => void) =>
        Effect.asVoid(
          Effect.acquireRelease(
            Effect.sync(() => listeners.add(listener)),
            () => Effect.sync(() => listeners.delete(listener))
          )
        )

      const notifications = yield* Notifications
      const heard = notifications(EventFeed.channel).pipe(
        Stream.runForEach((text) =>
          Effect.sync(() => {
            const [domainId, due] = text.split(" ")
            if (Schema.is(DomainId)(domainId)) tell({ domainId, isDue: due === "due" })
          })
        )
      )
      yield* BackgroundLoop.every(
        "5 seconds",
        { says: "The database is not listened to; it is tried again", level: "Debug" },
        heard
      )

      return EventFeed.of({
        announce: (domainId, { isDue }) => tell({ domainId, isDue }),
        listen,
        occasions: (domainId) =>
          Stream.merge(
            // A slow listener misses announcements, not events: it looks at the table after each.
            Stream.callback<void>(
              (queue) =>
                listen((announced) => {
                  if (announced.domainId === domainId) Queue.offerUnsafe(queue, undefined)
                }),
              { bufferSize: 1, strategy: "sliding" }
            ),
            Stream.map(Stream.fromSchedule(Schedule.spaced("1 second")), () => undefined)
          ).pipe(Stream.prepend([undefined]), Stream.buffer({ capacity: 1, strategy: "sliding" }))
      })
    })
  )
}
