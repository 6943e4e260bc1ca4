import { Context, DateTime, type Duration, Effect, Layer, Option, Stream } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import * as Pausing from "../delivery/Pausing.ts"
import { Conflict, Invalid, NotFound } from "../model/ApiError.ts"
import type { Delivery, DeliveryStatus } from "../model/Delivery.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import { EventFeed } from "./EventFeed.ts"
import * as TimeRange from "./TimeRange.ts"

/** An event as it is listed: the payload text as it was signed, and how its delivery stands. */
export interface ListedEvent {
  readonly id: EventId
  readonly payload: string
  readonly delivery: Delivery
}

/** Which events of a domain are asked for. */
export interface Filter {
  readonly recipient?: string | undefined
  readonly from?: string | undefined
  readonly since?: DateTime.Utc | undefined
  readonly until?: DateTime.Utc | undefined
  readonly delivery?: DeliveryStatus | undefined
  /** Only events newer than this one. */
  readonly after?: string | undefined
}

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Give it back as `cursor` for what comes next; null at the end. */
  readonly nextCursor: string | null
}

interface Row {
  readonly id: EventId
  readonly payload: string
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly dueAt: Date
  readonly deliveredAt: Date | null
  readonly lastError: string | null
}

/** Deliveries of a domain that are gone through one by one. */
const shortQueue = 500

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
    ): Effect.Effect<Page<ListedEvent>, Invalid>
    /** The first events that match and are new since the call; an empty page when the time is up. */
    wait(
      domainId: DomainId,
      filter: Filter,
      options: { readonly limit: number; readonly time: Duration.Duration }
    ): Effect.Effect<Page<ListedEvent>, Invalid>
    get(domainId: DomainId, eventId: EventId): Effect.Effect<ListedEvent, NotFound>
    /** Oldest first and without end: those after `after`, or else those that come from now on. */
    follow(domainId: DomainId, after: string | undefined): Effect.Effect<Stream.Stream<ListedEvent>, Invalid>
    /** Queues the delivery at once with a fresh budget. */
    replay(
      domainId: DomainId,
      eventId: EventId,
      options: { readonly force: boolean }
    ): Effect.Effect<Delivery, NotFound | Conflict>
  }
>()("inlet/reading/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const feed = yield* EventFeed
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

      type Table = "deliveries" | "events"

      /** What is not delivered is usually little, and is found in the queue; everything else among the events. */
      const tableOf = ({ delivery }: Filter): Table =>
        delivery === undefined || delivery === "delivered" ? "events" : "deliveries"

      /**
       * A short queue is gone through for an address. In a long one, such as that of a domain
       * without a webhook, what is held for it is sooner found among its own events.
       */
      const tableFor = Effect.fnUntraced(function* (domainId: DomainId, filter: Filter) {
        const { delivery, from, recipient } = filter
        const isQueue = delivery === "pending" || delivery === "held"
        if (!isQueue || (recipient === undefined && from === undefined)) return tableOf(filter)
        const beyond = yield* sql`
          SELECT 1 FROM deliveries WHERE domain_id = ${domainId} AND status = ${sql.literal(`'${delivery}'`)}
          ORDER BY position OFFSET ${sql.literal(`${shortQueue}`)} LIMIT 1
        `
        const table: Table = beyond.length === 0 ? "deliveries" : "events"
        return table
      })

      /**
       * Goes through the one in the order of its positions, and looks up the other for each,
       * until there are enough. OFFSET 0 keeps PostgreSQL from the reverse: it has read all
       * events of a recipient for the few that wait.
       */
      const joined = {
        events: sql`events CROSS JOIN LATERAL (
          SELECT * FROM deliveries WHERE deliveries.event_id = events.id OFFSET 0
        ) AS deliveries`,
        deliveries: sql`deliveries CROSS JOIN LATERAL (
          SELECT * FROM events WHERE events.id = deliveries.event_id OFFSET 0
        ) AS events`
      }

      const conditions = (domainId: DomainId, filter: Filter, table: Table) => {
        const { delivery, from, recipient, since, until } = filter
        // They carry the addresses, so that no other dead letters are gone through.
        const isDead = delivery === "dead"
        return [
          sql`${sql(table)}.domain_id = ${domainId}`,
          ...(recipient === undefined
            ? []
            : [sql`${isDead ? sql`deliveries.recipient` : sql`lower(events.recipient)`} = lower(${recipient})`]),
          ...(from === undefined
            ? []
            : [sql`${isDead ? sql`deliveries.sender` : sql`lower(events.sender)`} = lower(${from})`]),
          ...(since === undefined ? [] : [sql`events.received_at >= ${DateTime.toDateUtc(since)}`]),
          ...(until === undefined ? [] : [sql`events.received_at <= ${DateTime.toDateUtc(until)}`]),
          // Not as a parameter: only of a status that it knows can PostgreSQL tell which index has it.
          ...(delivery === undefined ? [] : [sql`deliveries.status = ${sql.literal(`'${delivery}'`)}`])
        ]
      }

      const select = (
        where: ReadonlyArray<Statement.Fragment>,
        order: "ASC" | "DESC",
        limit: number,
        table: Table = "events"
      ) =>
        Effect.map(
          sql<Row>`
            SELECT events.id, events.payload, deliveries.status, deliveries.attempts, deliveries.due_at,
              deliveries.delivered_at, deliveries.last_error
            FROM ${joined[table]}
            WHERE ${sql.and(where)}
            ORDER BY ${sql(table)}.position ${sql.literal(order)}
            LIMIT ${limit}
          `,
          (rows) => rows.map((row): ListedEvent => ({ id: row.id, payload: row.payload, delivery: toDelivery(row) }))
        )

      const pageOf = (events: ReadonlyArray<ListedEvent>, limit: number): Page<ListedEvent> => ({
        items: events.slice(0, limit),
        nextCursor: events.length > limit ? (events[limit - 1]?.id ?? null) : null
      })

      const list: Events["Service"]["list"] = Effect.fn("Events.list")(
        function* (domainId, filter, { cursor, limit }) {
          const table = yield* tableFor(domainId, filter)
          const where = conditions(domainId, filter, table)
          const position = sql`${sql(table)}.position`
          const { since, until } = filter
          if (since !== undefined || until !== undefined) {
            const { above, below } = yield* positionsOf(domainId, { since, until })
            where.push(sql`${position} > ${above}`, sql`${position} < ${below}`)
          }
          if (filter.after !== undefined) {
            where.push(sql`${position} > ${yield* positionOf(domainId, filter.after, "after")}`)
          }
          if (cursor !== undefined) {
            where.push(sql`${position} < ${yield* positionOf(domainId, cursor, "cursor")}`)
          }
          return pageOf(yield* select(where, "DESC", limit + 1, table), limit)
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
          const table = tableOf(filter)
          const where = [
            ...conditions(domainId, filter, table),
            sql`${sql(table)}.position > ${seen}`,
            sql`${sql(table)}.position <= ${last}`
          ]
          const found = yield* select(where, "DESC", limit + 1, table)
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
        const where = [sql`events.domain_id = ${domainId}`, sql`events.id = ${eventId}`]
        const [event] = yield* Effect.orDie(select(where, "DESC", 1))
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
                : yield* select(
                    [
                      sql`events.domain_id = ${domainId}`,
                      sql`events.position > ${seen}`,
                      sql`events.position <= ${upTo}`
                    ],
                    "ASC",
                    100
                  )
            seen = upTo
            return { events, more: upTo < last }
          })
          /** Everything that is there now, a hundred at a time. */
          const catchUp: Stream.Stream<ListedEvent> = Stream.unwrap(
            Effect.map(Effect.orDie(look), ({ events, more }) =>
              more ? Stream.concat(Stream.fromIterable(events), catchUp) : Stream.fromIterable(events)
            )
          )
          return Stream.flatMap(feed.occasions(domainId), () => catchUp)
        },
        Effect.catchTag("SqlError", Effect.die)
      )

      const replay: Events["Service"]["replay"] = Effect.fn("Events.replay")(function* (domainId, eventId, { force }) {
        const rows = yield* Effect.orDie(sql<Row>`
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
          return toDelivery(rows[0])
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

const toDelivery = (row: Omit<Row, "id" | "payload">): Delivery => ({
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.status === "pending" ? DateTime.fromDateUnsafe(row.dueAt) : null,
  deliveredAt: row.deliveredAt === null ? null : DateTime.fromDateUnsafe(row.deliveredAt),
  lastError: row.lastError
})
