import { Context, Effect, Layer, Queue, Schedule, Schema, type Scope, Stream } from "effect"
import { Notifications } from "../database/Database.ts"
import { DomainId } from "../model/Domain.ts"
import { WebhookId } from "../model/Webhook.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"

/** A domain has new events. Those of one webhook may be due. */
export interface Announcement {
  readonly domainId: DomainId
  /** Null if nothing is due. */
  readonly due: WebhookId | null
}

/**
 * Announces new events of a domain within this process and, through the database, to others. Listeners also poll,
 * because announcements are lost while the database is unreachable.
 */
export class EventFeed extends Context.Service<
  EventFeed,
  {
    /** A plain function, because every message calls it. */
    announce(domainId: DomainId, about: { readonly due: WebhookId | null }): void
    /**
     * Calls a listener with every announcement until the scope closes. The listener must return at once and never
     * throw, because mail waits for it.
     */
    listen(listener: (announcement: Announcement) => void): Effect.Effect<void, never, Scope.Scope>
    /** Emits now, after each announcement, and every second. */
    occasions(domainId: DomainId): Stream.Stream<void>
  }
>()("inlet/delivery/EventFeed") {
  /** The `NOTIFY` channel. Its payload is a domain id, followed by the id of a webhook if events are due. */
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
            if (Schema.is(DomainId)(domainId)) tell({ domainId, due: Schema.is(WebhookId)(due) ? due : null })
          })
        )
      )
      yield* BackgroundLoop.every(
        "5 seconds",
        { says: "The database is not listened to; it is tried again", level: "Debug" },
        heard
      )

      return EventFeed.of({
        announce: (domainId, { due }) => tell({ domainId, due }),
        listen,
        occasions: (domainId) =>
          Stream.merge(
            // A slow listener may miss announcements but no events, because it reads the table after each.
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
