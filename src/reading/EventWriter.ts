import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Batch from "../database/Batch.ts"
import { isUnreachable } from "../database/Database.ts"
import { EventFeed } from "../delivery/EventFeed.ts"
import { Handover } from "../delivery/Handover.ts"
import * as Lease from "../delivery/Lease.ts"
import type { DomainId } from "../model/Domain.ts"
import type { InboundEmailId } from "../model/InboundEmail.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"

/** An event that has no row yet. */
export interface NewEvent {
  readonly id: EventId
  readonly recipient: string
  readonly sender: string
  readonly payload: string
}

/** A message that has been read. */
export interface ReadMessage {
  readonly id: InboundEmailId
  readonly domainId: DomainId
  readonly authenticationResults: string | null
  readonly events: ReadonlyArray<NewEvent>
}

/** What the database says of an event that it has written. */
export interface WrittenEvent {
  readonly eventId: EventId
  readonly domainId: DomainId
  /** The delivery is leased to this process. */
  readonly isLeased: boolean
  /** The delivery is due, and waits for a claim. */
  readonly isDue: boolean
  readonly url: string
  readonly workspaceId: WorkspaceId
  readonly signingSecret: Uint8Array
  readonly previousSigningSecret: Uint8Array | null
}

interface Placed {
  readonly emailId: InboundEmailId
  readonly event: NewEvent
  /** Whether the delivery may be leased to this process. */
  readonly hasPlace: boolean
}

/**
 * The part of a statement that writes events with their deliveries: expects `read`
 * (id, domain_id, received_at), and ends with `written`. The row locks of
 * event_positions last until the commit, which makes a domain's events visible in the
 * order of their positions. They are taken in one order, so that two batches can't
 * wait for each other.
 */
export const statement = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { timeout } = yield* Settings.webhooks
  const leaseSeconds = Lease.seconds(timeout)

  return (events: ReadonlyArray<Placed>) => {
    const column = Batch.columnsOf(events)
    return sql`
      new AS (
        SELECT input.*, read.domain_id, read.received_at,
          row_number() OVER (PARTITION BY read.domain_id ORDER BY input.ordinal) AS number,
          count(*) OVER (PARTITION BY read.domain_id) AS of_domain
        FROM unnest(
          ${column("uuid", ({ event }) => event.id)},
          ${column("uuid", ({ emailId }) => emailId)},
          ${column("text", ({ event }) => event.recipient)},
          ${column("text", ({ event }) => event.sender)},
          ${column("text", ({ event }) => event.payload)},
          ${column("bool", ({ hasPlace }) => hasPlace)}
        ) WITH ORDINALITY AS input (id, inbound_email_id, recipient, sender, payload, has_place, ordinal)
        JOIN read ON read.id = input.inbound_email_id
      ), last AS (
        INSERT INTO event_positions AS positions (domain_id, position)
        SELECT domain_id, count(*) FROM new GROUP BY domain_id ORDER BY domain_id
        ON CONFLICT (domain_id) DO UPDATE SET position = positions.position + excluded.position
        RETURNING domain_id, position
      ), placed AS (
        SELECT new.*, last.position - new.of_domain + new.number AS position,
          domains.webhook_url, domains.workspace_id,
          new.has_place AND domains.webhook_url IS NOT NULL AND domains.status <> 'disabled'
            AND domains.webhook_paused_at IS NULL AS is_leased
        FROM new JOIN last USING (domain_id) JOIN domains ON domains.id = new.domain_id
      ), inserted AS (
        INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload)
        SELECT id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload FROM placed
      ), delivery AS (
        INSERT INTO deliveries (event_id, domain_id, position, status, due_at, attempts, leased_until, claimed_at)
        SELECT id, domain_id, position, CASE WHEN webhook_url IS NULL THEN 'held' ELSE 'pending' END, now(),
          is_leased::int,
          CASE WHEN is_leased THEN now() + make_interval(secs => ${leaseSeconds}) END,
          CASE WHEN is_leased THEN now() END
        FROM placed
      ), written AS (
        SELECT placed.id AS event_id, placed.inbound_email_id, placed.domain_id, is_leased,
          webhook_url IS NOT NULL AND NOT is_leased AS is_due,
          webhook_url AS url, workspaces.id AS workspace_id, workspaces.signing_secret,
          CASE WHEN workspaces.previous_secret_until > now() THEN workspaces.previous_signing_secret END
            AS previous_signing_secret,
          -- Other processes hear of it at the commit.
          CASE WHEN number = 1 THEN pg_notify(${EventFeed.channel}, placed.domain_id || CASE
            WHEN bool_or(webhook_url IS NOT NULL AND NOT is_leased) OVER (PARTITION BY placed.domain_id) THEN ' due'
            ELSE ''
          END)::text END AS told
        FROM placed LEFT JOIN workspaces ON is_leased AND workspaces.id = placed.workspace_id
      )
    `
  }
})

/** The deliveries that the database has leased to this process, with what their requests need. */
export const leased = (
  written: ReadonlyArray<WrittenEvent>,
  events: ReadonlyArray<NewEvent>
): ReadonlyArray<Lease.SealedDelivery> =>
  written.flatMap(({ isDue: _, isLeased, ...row }) => {
    const event = isLeased ? events.find(({ id }) => id === row.eventId) : undefined
    return event === undefined ? [] : [{ ...row, payload: event.payload, attempts: 1, spent: 0, takenOver: false }]
  })

/**
 * Writes the events of stored messages, many in one statement and so one commit, hands
 * their deliveries to the worker of this process, and announces them. A message that
 * another reader has finished meanwhile is passed over.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const feed = yield* EventFeed
  const handover = yield* Handover
  const eventsOf = yield* statement

  interface Item extends ReadMessage {
    readonly places: number
  }

  const insert = (all: ReadonlyArray<Item>) => {
    // A reader that lost its lease may have read the same message as the one that took it over.
    const messages = [...new Map(all.map((message) => [message.id, message])).values()]
    const column = Batch.columnsOf(messages)
    const events = messages.flatMap(({ events, id, places }) =>
      events.map((event, index): Placed => ({ emailId: id, event, hasPlace: index < places }))
    )
    return sql<WrittenEvent>`
      WITH read AS (
        UPDATE inbound_emails
        SET state = 'read', leased_until = NULL, authentication_results = input.authentication_results
        FROM unnest(
          ${column("uuid", ({ id }) => id)},
          ${column("text", ({ authenticationResults }) => authenticationResults)}
        ) AS input (id, authentication_results)
        WHERE inbound_emails.id = input.id AND state = 'received'
        RETURNING inbound_emails.id, domain_id, received_at
      ), ${eventsOf(events)}
      SELECT * FROM written
    `
  }

  const write = yield* Batch.make(
    (messages: ReadonlyArray<Item>) =>
      Effect.map(insert(messages), (rows) => {
        const own = Map.groupBy(rows, ({ eventId }) => eventId)
        return messages.map(({ events }) => events.flatMap(({ id }) => own.get(id) ?? []))
      }),
    {
      lanes: 1,
      most: 64,
      mostBytes: 4 * 1024 * 1024,
      isOutage: isUnreachable,
      bytesOf: ({ events }) => events.reduce((bytes, { payload }) => bytes + payload.length, 0)
    }
  )

  return Effect.fnUntraced(function* (read: ReadMessage) {
    const { written } = yield* handover.within(read.domainId, read.events.length, (places) =>
      Effect.map(write({ ...read, places }), (written) => ({ written, leased: leased(written, read.events) }))
    )
    if (written.length > 0) yield* feed.announce(read.domainId, { isDue: written.some(({ isDue }) => isDue) })
  })
})
