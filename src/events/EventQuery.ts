import { DateTime, Effect, Stream } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { HeavyReads } from "../database/HeavyReads.ts"
import type { Delivery, DeliveryStatus } from "../model/Delivery.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import * as Traits from "../model/Traits.ts"
import type * as Mark from "./Mark.ts"

/** An event as it is listed: the payload text as it was signed, and how its delivery stands. */
export interface ListedEvent {
  readonly id: EventId
  readonly position: bigint
  /** Of the payload. */
  readonly bytes: number
  /** Null where it is heavy, and is to be read when it is written: see `payloads`. */
  readonly payload: string | null
  readonly delivery: Delivery
}

/** The columns needed to load a payload. */
export type Weighed = Pick<ListedEvent, "bytes" | "id" | "payload">
export type Loaded<E extends Weighed> = E & { readonly payload: string }

/** A listed event with its payload. */
export interface LoadedEvent extends ListedEvent {
  readonly payload: string
}

/** Events in order, and whether more of them match than were asked for in number or in bytes. */
export interface Found {
  readonly events: ReadonlyArray<ListedEvent>
  readonly hasMore: boolean
}

/** Which events of a domain are asked for. */
export interface Filter {
  readonly recipient?: string | undefined
  readonly from?: string | undefined
  readonly since?: DateTime.Utc | undefined
  readonly until?: DateTime.Utc | undefined
  readonly delivery?: DeliveryStatus | undefined
  readonly has?: "code" | "link" | "attachment" | undefined
  /** The author's domain or its parent, confirmed by DMARC, in canonical form. */
  readonly fromDomain?: string | undefined
  /** Contained in the subject; case is ignored. */
  readonly subject?: string | undefined
  readonly tag?: string | undefined
  readonly thread?: string | undefined
  readonly sender?: Parameters<typeof Traits.ofSender>[0] | undefined
}

/**
 * Whether an index has what is asked for. What is not in one is looked for among a bounded number of events, and
 * so are those with a code by how their delivery stands: either of the two indexes may lead through very many.
 */
export const isIndexed = ({ delivery, fromDomain, has, sender, subject, tag, thread }: Filter) =>
  [fromDomain, sender, subject, tag, thread].every((filter) => filter === undefined) &&
  (has === undefined || (has === "code" && delivery === undefined))

/** A position that is itself left out. */
export type Bound = { readonly above: bigint } | { readonly below: bigint }

/** A delivery as its columns are. */
export interface DeliveryRow {
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly dueAt: Date
  readonly deliveredAt: Date | null
  readonly lastError: string | null
}

interface Row extends DeliveryRow {
  readonly id: EventId
  readonly position: bigint
  readonly bytes: number
  readonly payload: string | null
  readonly matching: number
}

/** Which of the events that match are wanted: the first so many, but not more than weigh so much. One is there at least. */
export interface Options {
  readonly limit: number
  readonly bytes: number
  readonly order: Mark.Order
}

/** Maximum bytes of payloads per statement. Larger pages are loaded while the answer is written. */
const bytesAtOnce = 256 * 1024

type Table = "deliveries" | "events"

/** Maximum deliveries of a domain to filter one by one. */
const shortQueue = 500

/**
 * The statement behind every list of events. It goes through one table in the order of
 * positions, and looks up the other for each row, until there are enough.
 */
export const make = (sql: SqlClient.SqlClient, heavy: HeavyReads["Service"]) => {
  // OFFSET 0 keeps PostgreSQL from the reverse: it has read all events of a recipient for the few that wait.
  const joined = {
    events: sql`events CROSS JOIN LATERAL (
      SELECT * FROM deliveries WHERE deliveries.event_id = events.id OFFSET 0
    ) AS deliveries`,
    deliveries: sql`deliveries CROSS JOIN LATERAL (
      SELECT * FROM events WHERE events.id = deliveries.event_id OFFSET 0
    ) AS events`
  }

  // What a payload weighs is known without reading it, so those that are not wanted are never read.
  const select = (table: Table, where: ReadonlyArray<Statement.Fragment>, { bytes, limit, order }: Options) => {
    const direction = sql.literal(order === "asc" ? "ASC" : "DESC")
    return Effect.map(
      sql<Row>`
        SELECT id, position, bytes, CASE WHEN bytes_so_far <= ${bytesAtOnce} THEN payload END AS payload, matching,
          status, attempts, due_at, delivered_at, last_error
        FROM (
          SELECT *, octet_length(payload) AS bytes, sum(octet_length(payload)) OVER in_order AS bytes_so_far,
            row_number() OVER in_order AS number, (count(*) OVER ())::integer AS matching
          FROM (
            SELECT events.id, ${sql(table)}.position, events.payload, deliveries.status, deliveries.attempts,
              deliveries.due_at, deliveries.delivered_at, deliveries.last_error
            FROM ${joined[table]}
            WHERE ${sql.and(where)}
            ORDER BY ${sql(table)}.position ${direction}
            LIMIT ${limit + 1}
          ) AS page
          WINDOW in_order AS (ORDER BY position ${direction} ROWS UNBOUNDED PRECEDING)
        ) AS weighed
        WHERE number <= ${limit} AND (number = 1 OR bytes_so_far <= ${bytes})
        ORDER BY position ${direction}
      `,
      (rows): Found => ({
        events: rows.map((row) => ({
          id: row.id,
          position: row.position,
          bytes: row.bytes,
          payload: row.payload,
          delivery: toDelivery(row)
        })),
        hasMore: rows.length < (rows[0]?.matching ?? 0)
      })
    )
  }

  // Not as a parameter: only of a status that it knows can PostgreSQL tell which index has it.
  const isIn = (status: DeliveryStatus) => sql`deliveries.status = ${sql.literal(`'${status}'`)}`

  /**
   * Undelivered events are usually few, and are found in the queue; all others among the
   * events. A short queue is gone through for an address. With a long one, such as that of a
   * domain without a webhook, the held events of an address are sooner found among its own.
   */
  const tableFor = Effect.fnUntraced(function* (
    domainId: DomainId,
    { delivery, from, recipient }: Filter
  ): Effect.fn.Return<Table, SqlError> {
    if (delivery === undefined || delivery === "delivered") return "events"
    if (delivery === "dead" || (recipient === undefined && from === undefined)) return "deliveries"
    const beyond = yield* sql`
      SELECT 1 FROM deliveries WHERE domain_id = ${domainId} AND ${isIn(delivery)}
      ORDER BY position OFFSET ${sql.literal(`${shortQueue}`)} LIMIT 1
    `
    return beyond.length === 0 ? "deliveries" : "events"
  })

  const conditions = (filter: Filter) => {
    const { delivery, from, recipient, since, until } = filter
    // They contain the addresses, so the query skips other dead letters.
    const isDead = delivery === "dead"
    return [
      ...(recipient === undefined
        ? []
        : [sql`${isDead ? sql`deliveries.recipient` : sql`lower(events.recipient)`} = lower(${recipient})`]),
      ...(from === undefined
        ? []
        : [sql`${isDead ? sql`deliveries.sender` : sql`lower(events.sender)`} = lower(${from})`]),
      ...(since === undefined ? [] : [sql`events.received_at >= ${DateTime.toDateUtc(since)}`]),
      ...(until === undefined ? [] : [sql`events.received_at <= ${DateTime.toDateUtc(until)}`]),
      ...(delivery === undefined ? [] : [isIn(delivery)]),
      ...traits(filter)
    ]
  }

  const traits = ({ fromDomain, has, sender, subject, tag, thread }: Filter) => [
    // Not as a parameter: only of a bit that it knows can PostgreSQL tell which index has it.
    ...(has === undefined ? [] : [hasBit(Traits.bits[has])]),
    ...(sender === undefined
      ? []
      : [sql`events.traits & ${sql.literal(`${Traits.senderBits}`)} = ${Traits.ofSender(sender)}::int`]),
    ...(fromDomain === undefined
      ? []
      : [
          hasBit(Traits.bits.dmarcPass),
          sql`right('.' || substring(lower(events.sender) FROM '[^@]*$'), ${fromDomain.length + 1}) = ${`.${fromDomain}`}`
        ]),
    ...(subject === undefined ? [] : [sql`position(lower(${subject}) IN lower(events.subject)) > 0`]),
    ...(tag === undefined ? [] : [sql`${tagOf} = lower(${tag})`]),
    ...(thread === undefined ? [] : [sql`events.thread_id = ${thread}::uuid`])
  ]

  const hasBit = (bit: number) => {
    const text = sql.literal(`${bit}`)
    return sql`events.traits & ${text} = ${text}`
  }

  // As the event has it: behind the first plus of the local part, without the quotes around that.
  const tagOf = sql`substring(
    regexp_replace(substring(lower(events.recipient) FROM '^(.*)@[^@]*$'), '^"(.*)"$', '\\1') FROM '^[^+]*[+](.+)$'
  )`

  return {
    /** The events that match, within all of the bounds. */
    find: Effect.fnUntraced(function* (
      domainId: DomainId,
      filter: Filter,
      bounds: ReadonlyArray<Bound>,
      options: Options
    ) {
      const table = yield* tableFor(domainId, filter)
      const position = sql`${sql(table)}.position`
      const where = [
        sql`${sql(table)}.domain_id = ${domainId}`,
        ...conditions(filter),
        ...bounds.map((bound) =>
          "above" in bound ? sql`${position} > ${bound.above}` : sql`${position} < ${bound.below}`
        )
      ]
      return yield* select(table, where, options)
    }),
    one: (domainId: DomainId, eventId: EventId) =>
      Effect.map(
        select("events", [sql`events.domain_id = ${domainId}`, sql`events.id = ${eventId}`], {
          limit: 1,
          bytes: bytesAtOnce,
          order: "desc"
        }),
        ({ events: [event] }) => event
      ),
    /** Those that were not read with their list, in its order, a piece at a time. What was removed meanwhile is left out. */
    payloads: <E extends Weighed>(domainId: DomainId, listed: ReadonlyArray<E>): Stream.Stream<Loaded<E>, SqlError> =>
      Stream.fromIterable(pieces(listed)).pipe(
        Stream.mapEffect(
          Effect.fnUntraced(function* (piece) {
            const missing = piece.flatMap(({ id, payload }) => (payload === null ? [id] : []))
            const rows =
              missing.length === 0
                ? []
                : yield* heavy.within(sql<{ readonly id: EventId; readonly payload: string }>`
                    SELECT id, payload FROM events WHERE domain_id = ${domainId} AND ${sql.in("id", missing)}
                  `)
            const read = new Map(rows.map(({ id, payload }) => [id, payload]))
            return piece.flatMap((event): ReadonlyArray<Loaded<E>> => {
              const payload = event.payload ?? read.get(event.id)
              return payload === undefined ? [] : [{ ...event, payload }]
            })
          })
        ),
        Stream.flattenIterable
      )
  }
}

/** What one statement reads: events that weigh little together, or one. */
const pieces = <E extends Weighed>(listed: ReadonlyArray<E>): ReadonlyArray<ReadonlyArray<E>> => {
  const pieces: Array<Array<E>> = []
  let bytes = Number.POSITIVE_INFINITY
  for (const event of listed) {
    bytes += event.bytes
    if (bytes <= bytesAtOnce) pieces.at(-1)?.push(event)
    else {
      pieces.push([event])
      bytes = event.bytes
    }
  }
  return pieces
}

export const toDelivery = (row: DeliveryRow): Delivery => ({
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.status === "pending" ? DateTime.fromDateUnsafe(row.dueAt) : null,
  deliveredAt: row.deliveredAt === null ? null : DateTime.fromDateUnsafe(row.deliveredAt),
  lastError: row.lastError
})
