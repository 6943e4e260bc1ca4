import { Context, Duration, Effect, Layer, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { HeavyReads } from "../database/HeavyReads.ts"
import { EventFeed } from "../delivery/EventFeed.ts"
import type { Conflict, Invalid, NotFound } from "../model/ApiError.ts"
import type { Delivery } from "../model/Delivery.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { Page } from "../model/Page.ts"
import type { WebhookId } from "../model/Webhook.ts"
import * as Settings from "../Settings.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import { EventNews } from "./EventNews.ts"
import * as EventQuery from "./EventQuery.ts"
import * as EventReplays from "./EventReplays.ts"
import * as ExpiredEvents from "./ExpiredEvents.ts"
import * as IndexedFilter from "./IndexedFilter.ts"
import * as Mark from "./Mark.ts"
import * as Positions from "./Positions.ts"
import * as SearchWindow from "./SearchWindow.ts"
import * as TimeRange from "./TimeRange.ts"

export interface Filter extends EventQuery.Filter {
  /** Only events after this position: a mark, an event id, `start` or `latest`. */
  readonly after?: string | undefined
}

export interface EventPage extends Page<EventQuery.ListedEvent> {
  /** The current position. Pass it as `after` for later events. */
  readonly cursorNow: string
}

/** Maximum bytes that a stream holds for its client, unless a single event is larger. */
const bytesAhead = 256 * 1024

const nothing: EventQuery.Found = { events: [], hasMore: false }

/** Reads the events of a domain, in the order of their positions. */
export class Events extends Context.Service<
  Events,
  {
    /** Maximum number of events. Fewer if they are large. `cursor` is the previous page's `next_cursor`. */
    list(
      domainId: DomainId,
      filter: Filter,
      page: { readonly limit: number; readonly order: Mark.Order; readonly cursor?: string | undefined }
    ): Effect.Effect<EventPage, Invalid | NotFound | SqlError>
    /** The first matching events, existing or new. An empty page on timeout. Without `canCome` only existing ones. */
    wait(
      domainId: DomainId,
      filter: Filter,
      options: {
        readonly limit: number
        readonly order: Mark.Order
        readonly time: Duration.Duration
        /** Whether the domain takes mail. True by default. */
        readonly canCome?: boolean
      }
    ): Effect.Effect<EventPage, Invalid | NotFound | SqlError>
    get(domainId: DomainId, eventId: EventId): Effect.Effect<EventQuery.ListedEvent, NotFound | SqlError>
    /** Fails unless the event exists and the pattern takes its recipient. Without a pattern it makes no query. */
    demand(domainId: DomainId, eventId: EventId, only: string | undefined): Effect.Effect<void, NotFound | SqlError>
    /** One listed event with its payload. */
    payload(
      domainId: DomainId,
      event: EventQuery.ListedEvent
    ): Effect.Effect<EventQuery.LoadedEvent, NotFound | SqlError>
    /** Listed events with their payloads. Large ones are loaded on demand. */
    payloads<E extends EventQuery.Weighed>(
      id: DomainId,
      events: ReadonlyArray<E>
    ): Stream.Stream<EventQuery.Loaded<E>, SqlError>
    /**
     * Oldest first, until the domain is removed: events after `after`, or else new ones. Emits a few at a time, and
     * an empty list at least every second without new events.
     */
    follow(
      domainId: DomainId,
      after: string | undefined,
      filter?: EventQuery.Filter
    ): Effect.Effect<Stream.Stream<ReadonlyArray<EventQuery.ListedEvent>, SqlError>, Invalid | NotFound | SqlError>
    /** Makes the delivery due at once with a fresh retry budget, at its own webhook or at another one of the domain. */
    replay(
      domainId: DomainId,
      eventId: EventId,
      options: { readonly force: boolean; readonly webhookId: WebhookId | undefined }
    ): Effect.Effect<Delivery, NotFound | Conflict | SqlError>
    /** Makes the next attempt of a pending delivery at once. A failure leaves its schedule as it was. */
    deliverNow(domainId: DomainId, eventId: EventId): Effect.Effect<Delivery, NotFound | Conflict | SqlError>
    /** Delivers mail that a sender rule holds as if it had passed. Its webhook may still hold it. */
    release(domainId: DomainId, eventId: EventId): Effect.Effect<Delivery, NotFound | SqlError>
  }
>()("inlet/events/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const feed = yield* EventFeed
      const news = yield* EventNews
      const expired = yield* ExpiredEvents.make
      const query = EventQuery.make(sql, yield* HeavyReads)
      const { pageBytes } = yield* Settings.answers
      const positionsOf = TimeRange.make(sql)

      const { boundOf, lastPosition, oldestPosition, positionOf, startOf } = Positions.make(sql, expired)

      const pageOf = (
        domainId: DomainId,
        { events: items, hasMore }: EventQuery.Found,
        { last, order }: { readonly last: bigint; readonly order: Mark.Order }
      ): EventPage => {
        const end = items.at(-1)
        // Events after `last` are on this page, and are not new afterwards.
        const newest = (order === "asc" ? end : items[0])?.position
        const isLater = newest !== undefined && newest > last
        return {
          items,
          nextCursor:
            hasMore && end !== undefined ? Mark.encode(domainId, { kind: order, position: end.position }) : null,
          cursorNow: Mark.encode(domainId, { kind: "now", position: isLater ? newest : last })
        }
      }

      const windowOf = Effect.fnUntraced(function* (
        domainId: DomainId,
        bounds: ReadonlyArray<EventQuery.Bound>,
        { last, order }: { readonly last: bigint; readonly order: Mark.Order }
      ) {
        return SearchWindow.of(bounds, { first: (yield* oldestPosition(domainId)) ?? last + 1n, last, order })
      })

      /** Otherwise leaving out what sender rules hold costs nothing. */
      const hasHeld = (domainId: DomainId) =>
        Effect.map(
          sql`SELECT 1 FROM deliveries WHERE domain_id = ${domainId} AND hold_reason IS NOT NULL LIMIT 1`,
          (rows) => rows.length > 0
        )

      const page = Effect.fnUntraced(function* (
        domainId: DomainId,
        { after, ...filter }: Filter,
        options: { readonly limit: number; readonly order: Mark.Order; readonly last: bigint },
        cursor?: string
      ) {
        const { last, limit, order } = options
        const bounds: Array<EventQuery.Bound> = []
        const { only, since, until } = filter
        if (since !== undefined || until !== undefined) {
          const { above, below } = yield* positionsOf(domainId, { since, until })
          bounds.push({ above }, { below })
        }
        if (after !== undefined) bounds.push({ above: yield* startOf(domainId, after, { name: "after", last, only }) })
        if (cursor !== undefined) bounds.push(yield* boundOf(domainId, cursor, { order, only }))
        const isIndexed = IndexedFilter.isIndexed(filter) && !(filter.trust === "passed" && (yield* hasHeld(domainId)))
        const window = isIndexed ? undefined : yield* windowOf(domainId, bounds, { last, order })
        if (window !== undefined) bounds.push(window.bound)
        const found = yield* query.find(domainId, filter, bounds, { limit, bytes: pageBytes, order })
        const told = pageOf(domainId, found, { last, order })
        return window === undefined || found.hasMore
          ? told
          : { ...told, nextCursor: Mark.encode(domainId, window.next) }
      })

      const list: Events["Service"]["list"] = Effect.fn("Events.list")(function* (
        domainId,
        filter,
        { cursor, limit, order }
      ) {
        const last = yield* lastPosition(domainId)
        return yield* page(domainId, filter, { limit, order, last }, cursor)
      })

      const wait: Events["Service"]["wait"] = Effect.fn("Events.wait")(function* (
        domainId,
        filter,
        { canCome = true, limit, order, time }
      ) {
        // Before the first query, so that events during it count as new.
        let seen = yield* lastPosition(domainId)
        const until = (yield* Elapsed.millis) + Duration.toMillis(time)
        let first = yield* page(domainId, filter, { limit, order, last: seen })
        // A search reads some thousand events at a time.
        while (first.items.length === 0 && first.nextCursor !== null) {
          if ((yield* Elapsed.millis) >= until) return first
          first = yield* page(domainId, filter, { limit, order, last: seen }, first.nextCursor)
        }
        if (first.items.length > 0) return first
        const left = canCome ? until - (yield* Elapsed.millis) : 0
        const look = Effect.gen(function* () {
          const last = yield* lastPosition(domainId)
          if (last === seen) return nothing
          // Each event is judged once, when it is new: a delivery that changes later ends no wait.
          const bounds = [{ above: seen }, { below: last + 1n }]
          const found = yield* query.find(domainId, filter, bounds, { limit, bytes: pageBytes, order })
          seen = last
          return found
        })
        const found = yield* news.of(domainId).pipe(
          Stream.mapEffect(() => look),
          Stream.filter(({ events }) => events.length > 0),
          Stream.runHead,
          Effect.timeoutOption(Math.max(0, left))
        )
        const events = Option.getOrElse(Option.flatten(found), () => nothing)
        return pageOf(domainId, events, { order, last: seen })
      })

      const get = Effect.fn("Events.get")(function* (domainId: DomainId, eventId: EventId) {
        const event = yield* query.one(domainId, eventId)
        return event ?? (yield* expired.missing(eventId, ExpiredEvents.notAtDomain))
      })

      const demand: Events["Service"]["demand"] = Effect.fn("Events.demand")(function* (domainId, eventId, only) {
        const isSeen = only === undefined || (yield* positionOf(domainId, eventId, only)) !== undefined
        if (!isSeen) return yield* expired.missing(eventId, ExpiredEvents.notAtDomain)
      })

      const payloads: Events["Service"]["payloads"] = (id, listed) => query.payloads([id], listed)

      const payload: Events["Service"]["payload"] = Effect.fn("Events.payload")(function* (domainId, event) {
        const loaded = yield* Stream.runHead(payloads(domainId, [event]))
        return Option.getOrUndefined(loaded) ?? (yield* expired.missing(event.id, ExpiredEvents.notAtDomain))
      })

      const follow: Events["Service"]["follow"] = Effect.fn("Events.follow")(function* (domainId, after, filter = {}) {
        const now = yield* lastPosition(domainId)
        let seen = now
        if (after !== undefined) {
          const start = yield* startOf(domainId, after, { name: "Last-Event-ID", last: now, only: filter.only })
          // Positions before it are of expired events.
          const oldest = (yield* oldestPosition(domainId)) ?? now + 1n
          seen = start < oldest ? oldest - 1n : start
        }
        const look = Effect.gen(function* () {
          const last = yield* lastPosition(domainId)
          const upTo = last - seen > 100n ? seen + 100n : last
          const { events, hasMore } =
            upTo === seen
              ? nothing
              : yield* query.find(domainId, filter, [{ above: seen }, { below: upTo + 1n }], {
                  limit: 100,
                  bytes: bytesAhead,
                  order: "asc"
                })
          seen = hasMore ? (events.at(-1)?.position ?? upTo) : upTo
          return { events, more: seen < last }
        })
        /** All existing events. The next query waits until these are written. */
        const catchUp = Stream.paginate(undefined, () =>
          Effect.map(look, ({ events, more }) => [[events], more ? Option.some(undefined) : Option.none()] as const)
        )
        return news.of(domainId).pipe(
          Stream.flatMap(() => catchUp),
          Stream.catchTag("NotFound", () => Stream.empty)
        )
      })

      const { deliverNow, release, replay } = EventReplays.make(sql, { announce: feed.announce, get })

      return Events.of({ list, wait, get, demand, payload, payloads, follow, replay, deliverNow, release })
    })
  ).pipe(Layer.provide([HeavyReads.layer, EventNews.layer]))
}
