import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Batch from "../Batch.ts"
import { isUnreachable } from "../Database.ts"
import type { InboundEmailId } from "../model/InboundEmail.ts"
import type { EventId } from "../model/InboundEvent.ts"

/** Where the database says which domains have new events. */
export const channel = "inlet_events"

/** A message that has been read. */
export interface Read {
  readonly id: InboundEmailId
  readonly authenticationResults: string | null
  readonly events: ReadonlyArray<{
    readonly id: EventId
    readonly recipient: string
    readonly sender: string
    readonly payload: string
  }>
}

/**
 * Writes the events of messages, with their deliveries, many in one statement
 * and so one commit. A message that somebody else has read meanwhile is passed over.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The row locks of event_positions last until the commit, which makes a domain's events visible
  // in the order of their positions. They are taken in one order, so that two batches can't wait
  // for each other.
  const insert = (all: ReadonlyArray<Read>) => {
    // Whoever lost his lease meanwhile may have read the same message as the one who took it over.
    const messages = [...new Map(all.map((message) => [message.id, message])).values()]
    const events = messages.flatMap(({ events, id }) => events.map((event) => ({ ...event, emailId: id })))
    const ofMessage = Batch.columnsOf(messages)
    const ofEvent = Batch.columnsOf(events)
    return sql`
      WITH read AS (
        UPDATE inbound_emails
        SET state = 'read', leased_until = NULL, authentication_results = input.authentication_results
        FROM unnest(
          ${ofMessage("uuid", ({ id }) => id)},
          ${ofMessage("text", ({ authenticationResults }) => authenticationResults)}
        ) AS input (id, authentication_results)
        WHERE inbound_emails.id = input.id AND state = 'received'
        RETURNING inbound_emails.id, domain_id, received_at
      ), new AS (
        SELECT input.*, read.domain_id, read.received_at,
          row_number() OVER (PARTITION BY read.domain_id ORDER BY input.ordinal) AS number
        FROM unnest(
          ${ofEvent("uuid", ({ id }) => id)},
          ${ofEvent("uuid", ({ emailId }) => emailId)},
          ${ofEvent("text", ({ recipient }) => recipient)},
          ${ofEvent("text", ({ sender }) => sender)},
          ${ofEvent("text", ({ payload }) => payload)}
        ) WITH ORDINALITY AS input (id, inbound_email_id, recipient, sender, payload, ordinal)
        JOIN read ON read.id = input.inbound_email_id
      ), last AS (
        INSERT INTO event_positions AS positions (domain_id, position)
        SELECT domain_id, count(*) FROM new GROUP BY domain_id ORDER BY domain_id
        ON CONFLICT (domain_id) DO UPDATE SET position = positions.position + excluded.position
        RETURNING domain_id, position
      ), inserted AS (
        INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload)
        SELECT new.id, new.domain_id, new.inbound_email_id,
          last.position - (SELECT count(*) FROM new AS own WHERE own.domain_id = new.domain_id) + new.number,
          new.recipient, new.sender, new.received_at, new.payload
        FROM new JOIN last USING (domain_id)
        RETURNING id, domain_id, position
      ), delivery AS (
        INSERT INTO deliveries (event_id, domain_id, position, status, due_at)
        SELECT inserted.id, inserted.domain_id, inserted.position,
          CASE WHEN domains.webhook_url IS NULL THEN 'held' ELSE 'pending' END, now()
        FROM inserted JOIN domains ON domains.id = inserted.domain_id
      )
      -- Other processes hear of it at the commit.
      SELECT pg_notify(${channel}, domain_id::text) FROM last
    `
  }

  return yield* Batch.make(
    (messages: ReadonlyArray<Read>) =>
      Effect.as(
        insert(messages),
        messages.map(() => true)
      ),
    {
      lanes: 2,
      most: 64,
      mostBytes: 4 * 1024 * 1024,
      isOutage: isUnreachable,
      bytesOf: ({ events }) => events.reduce((bytes, { payload }) => bytes + payload.length, 0)
    }
  )
})
