import { Context, Effect, Layer, Queue, type Scope, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { Notices } from "../database/Database.ts"
import type { DomainId } from "../model/Domain.ts"
import type { WebhookId } from "../model/Webhook.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { type Announcement, News } from "./News.ts"

/** The shortest time between two notices of a process. */
const pause = "50 millis"

/**
 * Announces new events of a domain within this process at once, and to the others of the database in a notice for all
 * domains with news, at most 20 a second. Listeners also poll, because notices are lost while the database is
 * unreachable.
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
  }
>()("inlet/delivery/EventFeed") {
  /** The `NOTIFY` channel. */
  static readonly channel = "inlet_news"

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

      const notices = yield* Notices
      const news = new News(yield* (yield* SecureRandom.SecureRandom).uuidV4())
      const bell = yield* Queue.sliding<void>(1)
      if (notices !== undefined) {
        const heard = notices
          .hear(EventFeed.channel)
          .pipe(Stream.runForEach((message) => Effect.sync(() => news.read(message).forEach(tell))))
        yield* BackgroundLoop.every(
          "5 seconds",
          { says: "The database is not listened to; it is tried again", level: "Debug" },
          heard
        )
        const send = Effect.gen(function* () {
          yield* Queue.take(bell)
          yield* notices.send(EventFeed.channel, news.take())
          if (!news.isEmpty) Queue.offerUnsafe(bell, undefined)
          yield* Effect.sleep(pause)
        })
        yield* BackgroundLoop.endless({ says: "Other processes were not told of new events", level: "Debug" }, send)
      }

      return EventFeed.of({
        announce: (domainId, { due }) => {
          const announcement = { domainId, due }
          tell(announcement)
          if (notices === undefined) return
          news.add(announcement)
          Queue.offerUnsafe(bell, undefined)
        },
        listen
      })
    })
  )
}
