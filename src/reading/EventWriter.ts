import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Batcher from "../database/Batcher.ts"
import * as Columns from "../database/Columns.ts"
import { isUnreachable } from "../database/Database.ts"
import * as Claims from "../delivery/Claims.ts"
import * as DeliveryRows from "../delivery/DeliveryRows.ts"
import { EventFeed } from "../delivery/EventFeed.ts"
import { Handover } from "../delivery/Handover.ts"
import * as Lease from "../delivery/Lease.ts"
import type { DomainId } from "../model/Domain.ts"
import type { InboundEmailId } from "../model/InboundEmail.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { HoldReason } from "../model/Trust.ts"
import type { WebhookId } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import * as GoneWebhooks from "./GoneWebhooks.ts"

/** An event without a row yet. */
export interface NewEvent {
  readonly id: EventId
  readonly webhookId: WebhookId
  readonly recipient: string
  readonly sender: string
  /** The columns for lists, as in `Listing`. */
  readonly subject: string
  readonly traits: number
  readonly threadId: string
  readonly messageKey: bigint | null
  /** Why a sender rule holds its delivery, or null. */
  readonly hold: HoldReason | null
  /** UTF-8. */
  readonly payload: Uint8Array
}

/** A parsed message, or a part of its events. */
export interface ReadMessage {
  readonly id: InboundEmailId
  readonly domainId: DomainId
  readonly authenticationResults: string | null
  /** As in `Mail`. */
  readonly storedMs: number | null
  /** The number of recipients whose events are written before. */
  readonly readRecipients: number
  /** Whether these are its last events. */
  readonly isLast: boolean
  readonly events: ReadonlyArray<NewEvent>
}

/** The database's answer for a written event. */
interface WrittenEvent {
  readonly eventId: EventId
  readonly domainId: DomainId
  readonly webhookId: WebhookId
  /** The delivery is leased to this process. */
  readonly isLeased: boolean
  /** Any process may claim the delivery. */
  readonly isDue: boolean
  /** The webhook was removed since `RCPT`. */
  readonly isGone: boolean
  readonly url: string
  readonly format: string
  readonly credentials: Uint8Array | null
  readonly workspaceId: WorkspaceId
  readonly hasOwnSecret: boolean
  readonly signingSecret: Uint8Array
  readonly previousSigningSecret: Uint8Array | null
}

/** A message, with the number of its deliveries to each webhook that may be leased to this process's worker. */
interface Placed {
  readonly message: ReadMessage
  readonly places: ReadonlyMap<WebhookId, number>
}

/** The events of a message, each with whether its delivery may be leased. */
const withPlaces = ({ message, places }: Placed) => {
  const left = new Map(places)
  return message.events.map((event) => {
    if (event.hold !== null) return { event, emailId: message.id, hasPlace: false }
    const free = left.get(event.webhookId) ?? 0
    left.set(event.webhookId, free - 1)
    return { event, emailId: message.id, hasPlace: free > 0 }
  })
}

/**
 * The CTEs `read`, which marks messages as read, and `new`, their events. A message of which another process has written
 * events meanwhile is left to that one.
 */
const events = (sql: SqlClient.SqlClient, all: ReadonlyArray<Placed>) => {
  // A process with a lost lease may have parsed the same message as its successor.
  const messages = [...new Map(all.map((placed) => [placed.message.id, placed])).values()]
  const column = Columns.of(messages)
  const events = Columns.of(messages.flatMap(withPlaces))
  return sql`
    read AS (
      UPDATE inbound_emails
      SET state = CASE WHEN is_last THEN 'read' ELSE state END, leased_until = CASE WHEN NOT is_last THEN leased_until END,
        read_recipients = inbound_emails.read_recipients + input.recipients,
        authentication_results = input.authentication_results, stored_ms = input.stored_ms
      FROM unnest(
        ${column("uuid", ({ message }) => message.id)},
        ${column("text", ({ message }) => message.authenticationResults)},
        ${column("int4", ({ message }) => message.storedMs)},
        ${column("int4", ({ message }) => message.readRecipients)},
        ${column("int4", ({ message }) => message.events.length)},
        ${column("bool", ({ message }) => message.isLast)}
      ) AS input (id, authentication_results, stored_ms, read_before, recipients, is_last)
      WHERE inbound_emails.id = input.id AND state = ${"received"} AND read_recipients = read_before
        AND (SELECT true FROM domains WHERE domains.id = domain_id)
      RETURNING inbound_emails.id, domain_id, received_at
    ), new AS (
      SELECT input.*, read.domain_id, read.received_at,
        row_number() OVER (PARTITION BY read.domain_id ORDER BY input.ordinal) AS number,
        count(*) OVER (PARTITION BY read.domain_id) AS of_domain
      FROM unnest(
        ${events("uuid", ({ event }) => event.id)},
        ${events("uuid", ({ event }) => event.webhookId)},
        ${events("uuid", ({ emailId }) => emailId)},
        ${events("text", ({ event }) => event.recipient)},
        ${events("text", ({ event }) => event.sender)},
        ${events("text", ({ event }) => event.subject)},
        ${events("int4", ({ event }) => event.traits)},
        ${events("uuid", ({ event }) => event.threadId)},
        ${events("int8", ({ event }) => event.messageKey)},
        ${events("bytea", ({ event }) => event.payload)},
        ${events("text", ({ event }) => event.hold)},
        ${events("bool", ({ hasPlace }) => hasPlace)}
      ) WITH ORDINALITY AS input (
        id, webhook_id, inbound_email_id, recipient, sender, subject, traits, thread_id, message_key, payload, hold_reason,
        has_place, ordinal
      )
      JOIN read ON read.id = input.inbound_email_id
    )
  `
}

/**
 * The CTEs `last`, `placed` and `inserted`, which insert the events of `new`. The row locks of event_positions last until
 * the commit, which makes a domain's events visible in the order of their positions. They are taken in one order, so
 * that two batches can't wait for each other.
 */
const inserted = (sql: SqlClient.SqlClient) => sql`
  last AS (
    INSERT INTO event_positions AS positions (domain_id, position, read_at)
    SELECT domain_id, count(*), now() FROM new GROUP BY domain_id ORDER BY domain_id
    ON CONFLICT (domain_id) DO UPDATE SET
      position = positions.position + excluded.position,
      -- Not before the last one, because a statement that began earlier can be later here. A clock that was put back
      -- by more counts.
      read_at = CASE WHEN positions.read_at BETWEEN excluded.read_at AND excluded.read_at + interval '30 seconds'
        THEN positions.read_at ELSE excluded.read_at END
    RETURNING domain_id, position, read_at
  ), placed AS (
    SELECT new.*, last.position - new.of_domain + new.number AS position, last.read_at,
      ${Claims.ofWebhook(sql)}, webhooks.action, webhooks.id IS NULL AND hold_reason IS NULL AS is_gone, domains.workspace_id,
      new.has_place AND hold_reason IS NULL AND webhooks.url IS NOT NULL AND domains.status <> 'disabled'
        AND webhooks.paused_at IS NULL AS is_leased
    FROM new JOIN last USING (domain_id) JOIN domains ON domains.id = new.domain_id
    -- A webhook that was removed meanwhile leaves its mail held, until GoneWebhooks finds another one.
    LEFT JOIN webhooks ON webhooks.id = new.webhook_id
  ), inserted AS (
    INSERT INTO events (
      id, domain_id, inbound_email_id, position, recipient, sender, received_at, read_at, subject, traits, thread_id,
      message_key, payload
    )
    SELECT id, domain_id, inbound_email_id, position, recipient, sender, received_at, read_at, subject, traits, thread_id,
      message_key, convert_from(payload, 'UTF8')
    FROM placed
  )
`

/** What the caller needs of each event. */
const written = (sql: SqlClient.SqlClient) => sql`
  SELECT placed.id AS event_id, placed.domain_id, placed.webhook_id, is_leased, is_gone,
    url IS NOT NULL AND hold_reason IS NULL AND NOT is_leased AS is_due, url, format, credentials,
    ${Claims.secrets(sql, sql.literal("placed"))}
  FROM placed LEFT JOIN workspaces ON is_leased AND workspaces.id = placed.workspace_id
`

const statement = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { timeout } = yield* Settings.webhooks
  const rest = sql`
    ${inserted(sql)}, delivery AS (
      ${DeliveryRows.insert(sql, Lease.seconds(timeout))}
    )
    ${written(sql)}
  `
  return (all: ReadonlyArray<Placed>) => sql<WrittenEvent>`WITH ${events(sql, all)}, ${rest}`
})

/** The deliveries of a message written as leased to this process. */
const leasedOf = ({ events }: ReadMessage, written: ReadonlyArray<WrittenEvent>): ReadonlyArray<Lease.SealedDelivery> =>
  written.flatMap(({ isDue: _, isGone: __, isLeased, ...row }) => {
    const event = isLeased ? events.find(({ id }) => id === row.eventId) : undefined
    return event === undefined ? [] : [{ ...row, payload: event.payload, attempts: 1, spent: 0, takenOver: false }]
  })

/**
 * Makes a function that writes the events of a stored message, many messages in one statement and so one commit. It
 * hands their deliveries to the worker of this process, and announces the events. Returns false, and writes nothing, for a
 * message that another process has read meanwhile, or whose domain is gone.
 */
export const make = Effect.gen(function* () {
  const insert = yield* statement
  const feed = yield* EventFeed
  const handover = yield* Handover
  const routeAnew = yield* GoneWebhooks.make

  /** Hands over deliveries inserted as leased, releases the other slots, and announces the events. */
  const begin = Effect.fnUntraced(function* ({ message, places }: Placed, written: ReadonlyArray<WrittenEvent>) {
    const leased = leasedOf(message, written)
    yield* handover.begin(leased)
    for (const [webhookId, reserved] of places) {
      const used = leased.filter((delivery) => delivery.webhookId === webhookId).length
      yield* handover.release(webhookId, reserved - used)
    }
    if (written.length === 0) return
    const due = new Set(written.flatMap(({ isDue, webhookId }) => (isDue ? [webhookId] : [])))
    for (const webhookId of due.size === 0 ? [null] : due) feed.announce(message.domainId, { due: webhookId })
    if (!written.some(({ isGone }) => isGone)) return
    const gone = new Set(written.flatMap(({ eventId, isGone }) => (isGone ? [eventId] : [])))
    yield* routeAnew(
      message.domainId,
      message.events.filter(({ id }) => gone.has(id))
    )
  })

  const releaseAll = (places: Placed["places"]) =>
    Effect.forEach(places, ([webhookId, reserved]) => handover.release(webhookId, reserved), { discard: true })

  /** Reserves slots for the deliveries of a message, for most messages one. */
  const reserve = Effect.fnUntraced(function* ({ events }: ReadMessage) {
    const wanted = new Map<WebhookId, number>()
    for (const { hold, webhookId } of events) if (hold === null) wanted.set(webhookId, (wanted.get(webhookId) ?? 0) + 1)
    const places = new Map<WebhookId, number>()
    for (const [webhookId, most] of wanted) places.set(webhookId, yield* handover.reserve(webhookId, most))
    return places
  })

  return yield* Batcher.make(
    Effect.fnUntraced(function* (messages: ReadonlyArray<ReadMessage>) {
      const placed: Array<Placed> = []
      for (const message of messages) {
        placed.push({ message, places: yield* reserve(message) })
      }
      const rows = yield* insert(placed).pipe(
        Effect.withSpan("EventWriter.insert", { attributes: { messages: messages.length } }, Batcher.spanOptions),
        Effect.onError(() => Effect.forEach(placed, ({ places }) => releaseAll(places), { discard: true }))
      )
      const own = new Map(rows.map((row) => [row.eventId, row]))
      const isWritten: Array<boolean> = []
      for (const one of placed) {
        const written = one.message.events.flatMap(({ id }) => own.get(id) ?? [])
        yield* begin(one, written)
        isWritten.push(written.length > 0)
      }
      return isWritten
    }),
    {
      isOutage: isUnreachable,
      bytesOf: ({ events }) => events.reduce((bytes, { payload }) => bytes + payload.byteLength, 0)
    }
  )
})
