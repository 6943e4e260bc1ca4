import { DateTime, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Delivery, DeliveryStatus } from "../model/Delivery.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"

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
}

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
  readonly payload: string
}

type Table = "deliveries" | "events"

/** Deliveries of a domain that are gone through one by one. */
const shortQueue = 500

/**
 * The statement behind every list of events. It goes through one table in the order of
 * positions, and looks up the other for each row, until there are enough.
 */
export const make = (sql: SqlClient.SqlClient) => {
  // OFFSET 0 keeps PostgreSQL from the reverse: it has read all events of a recipient for the few that wait.
  const joined = {
    events: sql`events CROSS JOIN LATERAL (
      SELECT * FROM deliveries WHERE deliveries.event_id = events.id OFFSET 0
    ) AS deliveries`,
    deliveries: sql`deliveries CROSS JOIN LATERAL (
      SELECT * FROM events WHERE events.id = deliveries.event_id OFFSET 0
    ) AS events`
  }

  const select = (
    table: Table,
    where: ReadonlyArray<Statement.Fragment>,
    { limit, order }: { readonly limit: number; readonly order: "ASC" | "DESC" }
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

  // Not as a parameter: only of a status that it knows can PostgreSQL tell which index has it.
  const has = (status: DeliveryStatus) => sql`deliveries.status = ${sql.literal(`'${status}'`)}`

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
      SELECT 1 FROM deliveries WHERE domain_id = ${domainId} AND ${has(delivery)}
      ORDER BY position OFFSET ${sql.literal(`${shortQueue}`)} LIMIT 1
    `
    return beyond.length === 0 ? "deliveries" : "events"
  })

  const conditions = ({ delivery, from, recipient, since, until }: Filter) => {
    // They carry the addresses, so that no other dead letters are gone through.
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
      ...(delivery === undefined ? [] : [has(delivery)])
    ]
  }

  return {
    /** The events that match, within all of the bounds. */
    find: Effect.fnUntraced(function* (
      domainId: DomainId,
      filter: Filter,
      bounds: ReadonlyArray<Bound>,
      options: { readonly limit: number; readonly order: "ASC" | "DESC" }
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
          order: "DESC"
        }),
        ([event]) => event
      )
  }
}

export const toDelivery = (row: DeliveryRow): Delivery => ({
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.status === "pending" ? DateTime.fromDateUnsafe(row.dueAt) : null,
  deliveredAt: row.deliveredAt === null ? null : DateTime.fromDateUnsafe(row.deliveredAt),
  lastError: row.lastError
})
