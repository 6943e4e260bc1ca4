import { DateTime, Effect, Stream } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { HeavyReads } from "../database/HeavyReads.ts"
import * as RecipientPattern from "../database/RecipientPattern.ts"
import * as DeliveryRows from "../delivery/DeliveryRows.ts"
import * as DomainNames from "../domains/DomainNames.ts"
import type { Delivery, DeliveryStatus } from "../model/Delivery.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { HoldReason } from "../model/Trust.ts"
import type { WebhookId } from "../model/Webhook.ts"
import * as GivenCodes from "../workspaces/GivenCodes.ts"
import type * as Mark from "./Mark.ts"
import * as SearchFilters from "./SearchFilters.ts"

/** A listed event: the payload text as signed, and the state of its delivery. */
export interface ListedEvent {
  readonly id: EventId
  readonly position: bigint
  /** Of the payload. */
  readonly bytes: number
  /** Null for a large payload, which `payloads` loads while the answer is written. */
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

/** Events in order, and whether more match beyond the limits in number or bytes. */
export interface Found {
  readonly events: ReadonlyArray<ListedEvent>
  readonly hasMore: boolean
}

/** Filters and bounds of a domain's events. */
export interface Filter extends SearchFilters.Filter {
  readonly recipient?: string | undefined
  readonly from?: string | undefined
  readonly since?: DateTime.Utc | undefined
  readonly until?: DateTime.Utc | undefined
  readonly delivery?: DeliveryStatus | undefined
  /** Mail that passed the sender rules or was released, or mail that they hold. */
  readonly trust?: "passed" | "held" | undefined
  /** The webhook that has the delivery. */
  readonly webhook?: WebhookId | undefined
  /** Only mail whose local part this pattern takes, for a key with a limit. */
  readonly only?: string | undefined
  /** Only codes that are new to this session. */
  readonly newTo?: GivenCodes.Session | undefined
}

/** An exclusive position. */
export type Bound = { readonly above: bigint } | { readonly below: bigint }

/** The delivery columns. */
export interface DeliveryRow {
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly dueAt: Date
  readonly deliveredAt: Date | null
  readonly lastError: string | null
  readonly holdReason?: HoldReason | null
}

interface Row extends DeliveryRow {
  readonly id: EventId
  readonly position: bigint
  readonly bytes: number
  readonly payload: string | null
  readonly matching: number
}

/** Selects the first matching events up to a number and a size, and at least one. */
export interface Options {
  readonly limit: number
  readonly bytes: number
  readonly order: Mark.Order
}

/** Maximum bytes of payloads per statement. Larger pages are loaded while the answer is written. */
export const bytesAtOnce = 256 * 1024

type Table = "deliveries" | "events"

/** Maximum deliveries of a domain to filter one by one. */
const shortQueue = 500

/**
 * The statement behind every event list. It walks one table in the order of positions and looks up the other for each
 * row, until the page is full.
 */
export const make = (sql: SqlClient.SqlClient, heavy: HeavyReads["Service"]) => {
  // OFFSET 0 prevents the reverse order, in which PostgreSQL read all events of a recipient for a few waiting ones.
  const joined = {
    events: sql`events CROSS JOIN LATERAL (
      SELECT * FROM deliveries WHERE deliveries.event_id = events.id OFFSET 0
    ) AS deliveries`,
    deliveries: sql`deliveries CROSS JOIN LATERAL (
      SELECT * FROM events WHERE events.id = deliveries.event_id OFFSET 0
    ) AS events`
  }

  // PostgreSQL knows payload sizes without reading them, so payloads beyond the page are never read.
  const select = (table: Table, where: ReadonlyArray<Statement.Fragment>, { bytes, limit, order }: Options) => {
    const direction = sql.literal(order === "asc" ? "ASC" : "DESC")
    return Effect.map(
      sql<Row>`
        SELECT id, position, bytes, CASE WHEN bytes_so_far <= ${bytesAtOnce} THEN payload END AS payload, matching,
          status, attempts, due_at, delivered_at, last_error, hold_reason
        FROM (
          SELECT *, octet_length(payload) AS bytes, sum(octet_length(payload)) OVER in_order AS bytes_so_far,
            row_number() OVER in_order AS number, (count(*) OVER ())::integer AS matching
          FROM (
            SELECT events.id, ${sql(table)}.position, events.payload, deliveries.status, deliveries.attempts,
              deliveries.due_at, deliveries.delivered_at, deliveries.last_error, deliveries.hold_reason
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

  // A literal, because PostgreSQL can choose a partial index only for a known status.
  const isIn = (status: DeliveryStatus) => sql`deliveries.status = ${sql.literal(`'${status}'`)}`

  /**
   * Undelivered events are usually few and are found in the queue, all others among the events. A short queue is
   * filtered by address. With a long one, such as that of a domain without a webhook, the held events of an address
   * are found faster among its own events.
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

  const searched = SearchFilters.make(sql)
  const given = GivenCodes.make(sql)

  const conditions = (filter: Filter) => {
    const { delivery, from, newTo, only, recipient, since, trust, until, webhook } = filter
    // They contain the addresses, so the query skips other dead letters.
    const isDead = delivery === "dead"
    return [
      ...(recipient === undefined
        ? []
        : [sql`${isDead ? sql`deliveries.recipient` : sql`lower(events.recipient)`} = lower(${recipient})`]),
      ...(from === undefined
        ? []
        : [
            sql.or(
              DomainNames.spellings(from).map(
                (one) => sql`${isDead ? sql`deliveries.sender` : sql`lower(events.sender)`} = lower(${one})`
              )
            )
          ]),
      ...(since === undefined ? [] : [sql`events.received_at >= ${DateTime.toDateUtc(since)}`]),
      ...(until === undefined ? [] : [sql`events.received_at <= ${DateTime.toDateUtc(until)}`]),
      ...(delivery === undefined ? [] : [isIn(delivery)]),
      ...(webhook === undefined ? [] : [sql`${DeliveryRows.ofDelivery(sql)} = ${webhook}`]),
      ...(only === undefined ? [] : [RecipientPattern.takes(sql, only, sql`events.recipient`)]),
      ...(trust === undefined
        ? []
        : [trust === "held" ? sql`deliveries.hold_reason IS NOT NULL` : sql`deliveries.hold_reason IS NULL`]),
      ...(newTo === undefined ? [] : [given.isNew(newTo)]),
      ...searched(filter)
    ]
  }

  return {
    joined,
    conditions,
    /** The matching events within all bounds. */
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
    /** Loads payloads that the list did not load, in order, one chunk at a time. Skips events removed meanwhile. */
    payloads: <E extends Weighed>(
      domainIds: ReadonlyArray<DomainId>,
      listed: ReadonlyArray<E>
    ): Stream.Stream<Loaded<E>, SqlError> =>
      Stream.fromIterable(pieces(listed)).pipe(
        Stream.mapEffect(
          Effect.fnUntraced(function* (piece) {
            const missing = piece.flatMap(({ id, payload }) => (payload === null ? [id] : []))
            const rows =
              missing.length === 0
                ? []
                : yield* heavy.within(sql<{ readonly id: EventId; readonly payload: string }>`
                    SELECT id, payload FROM events
                    WHERE domain_id = ANY(${domainIds}::uuid[]) AND ${sql.in("id", missing)}
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

/** The payloads of one statement: several small ones, or one large one. */
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
  lastError: row.lastError,
  ...(row.status === "held" && row.holdReason ? { reason: row.holdReason } : {})
})
