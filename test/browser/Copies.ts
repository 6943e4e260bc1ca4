import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** Copies the one event of a domain, many times, as if the copies had come after it. */
export const of = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, domainId: string, count: number) {
  yield* sql`
    WITH event AS (SELECT * FROM events WHERE domain_id = ${domainId}), copies AS (
      SELECT event.*, gen_random_uuid() AS copy_id, number FROM event, generate_series(1, ${count}::int) AS number
    ), inserted AS (
      INSERT INTO events (
        id, domain_id, inbound_email_id, position, recipient, sender, received_at, read_at, subject, traits, thread_id,
        payload
      )
      SELECT copy_id, domain_id, inbound_email_id, position + number, recipient, sender, received_at, read_at,
        'copy ' || number, traits, thread_id,
        jsonb_set(jsonb_set(payload::jsonb, '{event_id}', to_jsonb(copy_id)), '{subject}', to_jsonb('copy ' || number))::text
      FROM copies
      RETURNING id, domain_id, position
    ), delivered AS (
      INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, due_at)
      SELECT id, domain_id, domain_id, position, 'held', now() FROM inserted
    )
    UPDATE event_positions SET position = position + ${count} WHERE domain_id = ${domainId}
  `
})
