import { Context, type Duration, Effect, Layer, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { EventFeed } from "../delivery/EventFeed.ts"
import * as Pausing from "../delivery/Pausing.ts"
import { Conflict, Invalid, NotFound } from "../model/ApiError.ts"
import type { Delivery } from "../model/Delivery.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { Page } from "../model/Page.ts"
import * as EventQuery from "./EventQuery.ts"
import * as TimeRange from "./TimeRange.ts"

export interface Filter extends EventQuery.Filter {
  /** Only events newer than this one. */
  readonly after?: string | undefined
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** The events of a domain, in the order of their positions. */
export class Events extends Context.Service<
  Events,
  {
    /** Newest first. `cursor` is the id of the last event of the page before. */
    list(
      domainId: DomainId,
      filter: Filter,
      page: { readonly limit: number; readonly cursor?: string | undefined }
    ): Effect.Effect<Page<EventQuery.ListedEvent>, Invalid>
    /** The first events that match and are new since the call; an empty page when the time is up. */
    wait(
      domainId: DomainId,
      filter: Filter,
      options: { readonly limit: number; readonly time: Duration.Duration }
    ): Effect.Effect<Page<EventQuery.ListedEvent>, Invalid>
    get(domainId: DomainId, eventId: EventId): Effect.Effect<EventQuery.ListedEvent, NotFound>
    /** Oldest first and without end: those after `after`, or else those that come from now on. */
    follow(domainId: DomainId, after: string | undefined): Effect.Effect<Stream.Stream<EventQuery.ListedEvent>, Invalid>
    /** Queues the delivery at once with a fresh budget. */
    replay(
      domainId: DomainId,
      eventId: EventId,
      options: { readonly force: boolean }
    ): Effect.Effect<Delivery, NotFound | Conflict>
  }
>()("inlet/events/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const feed = yield* EventFeed
      const query = EventQuery.make(sql)
      const positionsOf = TimeRange.make(sql)

      const positionOf = Effect.fnUntraced(function* (domainId: DomainId, eventId: string, name: string) {
        const rows = uuid.test(eventId)
          ? yield* sql<{ readonly position: bigint }>`
              SELECT position FROM events WHERE domain_id = ${domainId} AND id = ${eventId}
            `
          : []
        return (
          rows[0]?.position ??
          (yield* new Invalid({ message: `${name}: Expected the id of an event of this domain that is still kept` }))
        )
      })

      const lastPosition = Effect.fnUntraced(function* (domainId: DomainId) {
        const rows = yield* sql<{ readonly position: bigint }>`
          SELECT position FROM event_positions WHERE domain_id = ${domainId}
        `
        return rows[0]?.position ?? 0n
      })

      const pageOf = (events: ReadonlyArray<EventQuery.ListedEvent>, limit: number): Page<EventQuery.ListedEvent> => ({
        items: events.slice(0, limit),
        nextCursor: events.length > limit ? (events[limit - 1]?.id ?? null) : null
      })

      const list: Events["Service"]["list"] = Effect.fn("Events.list")(
        function* (domainId, filter, { cursor, limit }) {
          const bounds: Array<EventQuery.Bound> = []
          const { after, since, until } = filter
          if (since !== undefined || until !== undefined) {
            const { above, below } = yield* positionsOf(domainId, { since, until })
            bounds.push({ above }, { below })
          }
          if (after !== undefined) bounds.push({ above: yield* positionOf(domainId, after, "after") })
          if (cursor !== undefined) bounds.push({ below: yield* positionOf(domainId, cursor, "cursor") })
          return pageOf(yield* query.find(domainId, filter, bounds, { limit: limit + 1, order: "DESC" }), limit)
        },
        Effect.catchTag("SqlError", Effect.die)
      )

      const wait: Events["Service"]["wait"] = Effect.fn("Events.wait")(function* (domainId, filter, { limit, time }) {
        // Before the first look, so that what comes during it is new.
        let seen = yield* Effect.orDie(lastPosition(domainId))
        const first = yield* list(domainId, filter, { limit })
        if (first.items.length > 0) return first
        const look = Effect.gen(function* () {
          const last = yield* lastPosition(domainId)
          if (last === seen) return []
          // Each event is judged once, when it is new: a delivery that changes later ends no wait.
          const bounds = [{ above: seen }, { below: last + 1n }]
          const found = yield* query.find(domainId, filter, bounds, { limit: limit + 1, order: "DESC" })
          seen = last
          return found
        })
        const found = yield* feed.occasions(domainId).pipe(
          Stream.mapEffect(() => look),
          Stream.filter((events) => events.length > 0),
          Stream.runHead,
          Effect.orDie,
          Effect.timeoutOption(time)
        )
        return pageOf(
          Option.getOrElse(Option.flatten(found), () => []),
          limit
        )
      })

      const get = Effect.fn("Events.get")(function* (domainId: DomainId, eventId: EventId) {
        const event = yield* Effect.orDie(query.one(domainId, eventId))
        return event ?? (yield* new NotFound({ message: "No such event at this domain" }))
      })

      const follow: Events["Service"]["follow"] = Effect.fn("Events.follow")(
        function* (domainId, after) {
          let seen =
            after === undefined ? yield* lastPosition(domainId) : yield* positionOf(domainId, after, "Last-Event-ID")
          const look = Effect.gen(function* () {
            const last = yield* lastPosition(domainId)
            const upTo = last - seen > 100n ? seen + 100n : last
            const events =
              upTo === seen
                ? []
                : yield* query.find(domainId, {}, [{ above: seen }, { below: upTo + 1n }], { limit: 100, order: "ASC" })
            seen = upTo
            return { events, more: upTo < last }
          })
          /** Everything that is there now, a hundred at a time. */
          const catchUp: Stream.Stream<EventQuery.ListedEvent> = Stream.unwrap(
            Effect.map(Effect.orDie(look), ({ events, more }) =>
              more ? Stream.concat(Stream.fromIterable(events), catchUp) : Stream.fromIterable(events)
            )
          )
          return Stream.flatMap(feed.occasions(domainId), () => catchUp)
        },
        Effect.catchTag("SqlError", Effect.die)
      )

      const replay: Events["Service"]["replay"] = Effect.fn("Events.replay")(function* (domainId, eventId, { force }) {
        const rows = yield* Effect.orDie(sql<EventQuery.DeliveryRow>`
          UPDATE deliveries SET status = 'pending', spent = attempts, due_at = now(), delivered_at = NULL
          FROM domains
          WHERE deliveries.event_id = ${eventId} AND deliveries.domain_id = ${domainId}
            AND domains.id = ${domainId} AND domains.status <> 'disabled' AND domains.webhook_url IS NOT NULL
            AND (deliveries.status <> 'delivered' OR ${force}::boolean)
          RETURNING deliveries.status, deliveries.attempts, deliveries.due_at, deliveries.delivered_at,
            deliveries.last_error
        `)
        if (rows[0] !== undefined) {
          yield* Effect.orDie(Pausing.resume(sql, domainId))
          yield* feed.announce(domainId, { isDue: true })
          return EventQuery.toDelivery(rows[0])
        }
        const { delivery } = yield* get(domainId, eventId)
        return yield* new Conflict({
          message:
            delivery.status === "delivered" && !force
              ? "This event is already delivered; add ?force=true to send it again"
              : "This domain has no webhook, or is disabled: PATCH /api/domains/{id}/delivery sets one"
        })
      })

      return Events.of({ list, wait, get, follow, replay })
    })
  )
}
