import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Patience from "../src/database/Patience.ts"
import * as Traits from "../src/model/Traits.ts"

/** The tables that grow with mail. */
export const growing = ["inbound_emails", "received_once", "events", "deliveries", "delivery_attempts"] as const

export interface History {
  /** The first domain has half of all mail, and the others share the rest. */
  readonly domains: ReadonlyArray<string>
  readonly messages: number
  /** The age of the first and the last message, in days. */
  readonly from: number
  readonly to: number
}

/**
 * Rows as after some time in production, with one event for each message: 97 % delivered, 2 % dead after eleven
 * attempts, 1 % to be retried tomorrow. They have no raw messages.
 */
export const seed = Effect.fnUntraced(
  function* ({ domains, from, messages, to }: History) {
    const sql = yield* SqlClient.SqlClient
    // The keys are consistent by construction, and checking a million of them takes minutes.
    yield* sql`SET LOCAL session_replication_role = replica`
    yield* sql`SET LOCAL maintenance_work_mem = '512MB'`
    yield* sql`SET LOCAL work_mem = '256MB'`
    const indexes = yield* sql<{ readonly name: string; readonly definition: string }>`
      SELECT indexname AS name, indexdef AS definition FROM pg_indexes
      WHERE schemaname = 'public' AND tablename = ANY(${[...growing]}::text[])
        AND indexname NOT IN (SELECT conname FROM pg_constraint)
    `
    for (const { name } of indexes) yield* sql`DROP INDEX ${sql(name)}`

    yield* sql`CREATE TEMP TABLE bodies ON COMMIT DROP AS
      SELECT body, (
        SELECT string_agg(md5((body * 1000 + line)::text) || ' is what the mail has to say in this line.', ' ')
        FROM generate_series(1, 32) AS line
      ) AS text
      FROM generate_series(0, 63) AS body
    `
    const id = (kind: string) => sql`
      (lpad(to_hex((extract(epoch FROM received_at) * 1000)::bigint), 12, '0') || '7' || substr(hash, 1, 3)
        || '8' || substr(hash, 5, 3) || substr(md5(${kind} || hash), 1, 12))::uuid
    `
    yield* sql`CREATE TEMP TABLE history ON COMMIT DROP AS
      SELECT numbered.*, coalesce(event_positions.position, 0) + own_number AS position,
        ${id("email")} AS email_id, ${id("event")} AS event_id,
        CASE WHEN dice < 0.97 THEN 'delivered' WHEN dice < 0.99 THEN 'dead' ELSE 'pending' END AS status,
        CASE WHEN dice < 0.94 THEN 1 WHEN dice < 0.97 THEN 2 WHEN dice < 0.99 THEN 11 ELSE 3 END AS attempts,
        'user' || floor(40 * luck * luck) || '@' || domains.name AS recipient,
        'sender' || number % 499 || '@shop' || number % 7 || '.example' AS sender
      FROM (
        SELECT number, domain_id, received_at, md5(received_at::text || number) AS hash,
          row_number() OVER (PARTITION BY domain_id ORDER BY number) AS own_number,
          ((number::bigint * 2654435761) % 10007)::float8 / 10007 AS dice,
          ((number::bigint * 40503) % 9973)::float8 / 9973 AS luck,
          (((number::bigint * 7919) % 97 < 4)::int * ${Traits.bits.code}
            | ((number::bigint * 7919) % 97 BETWEEN 4 AND 12)::int * ${Traits.bits.link}
            | (number % 7 = 0)::int * ${Traits.bits.attachment} | (number % 5 <> 0)::int * ${Traits.bits.dmarcPass}
            | CASE number % 11 WHEN 0 THEN ${Traits.ofSender("list")} WHEN 1 THEN ${Traits.ofSender("auto")}
              WHEN 2 THEN ${Traits.ofSender("bounce")} ELSE ${Traits.ofSender("person")} END)::smallint AS traits,
          overlay(overlay(md5('thread' || number / 10) placing '8' from 13) placing '8' from 17)::uuid AS thread_id
        FROM (
          SELECT number,
            (${[...domains]}::uuid[])[
              CASE WHEN number % 2 = 0 THEN 1 ELSE 1 + number / 2 % ${domains.length} END
            ] AS domain_id,
            now() - make_interval(secs => 86400.0 * (${from}::float8
              - (${from}::float8 - ${to}::float8) * number / ${messages})) AS received_at
          FROM generate_series(1, ${messages}::int) AS number
        ) AS dated
      ) AS numbered
      JOIN domains ON domains.id = numbered.domain_id
      LEFT JOIN event_positions USING (domain_id)
    `
    yield* sql`
      INSERT INTO inbound_emails (
        id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, read_attempts, trace_bytes
      )
      SELECT email_id, domain_id, received_at, sha256(hash::bytea), sender, 'mail.shop.example', '203.0.113.7',
        ARRAY[recipient], 'read', 1, 0
      FROM history ORDER BY number
    `
    yield* sql`
      INSERT INTO received_once (key, inbound_email_id, received_at)
      SELECT sha256(('key' || hash)::bytea), email_id, received_at FROM history
      WHERE received_at > now() - interval '7 days 2 hours' ORDER BY number
    `
    yield* sql`
      INSERT INTO event_positions (domain_id, position) SELECT domain_id, max(position) FROM history GROUP BY domain_id
      ON CONFLICT (domain_id) DO UPDATE SET position = excluded.position
    `
    yield* sql`
      INSERT INTO events (
        id, domain_id, inbound_email_id, position, recipient, sender, received_at, read_at, traits, thread_id, subject,
        message_key, payload
      )
      SELECT event_id, domain_id, email_id, position, recipient, sender, received_at,
        received_at + interval '20 milliseconds', traits, thread_id, 'Mail ' || number, number::bigint << 20,
        json_build_object('event_id', event_id, 'recipient', recipient, 'from', sender, 'subject', 'Mail ' || number,
          'receivedAt', received_at, 'text', text, 'html', NULL, 'attachments', '[]'::json)::text
      FROM history JOIN bodies ON body = number % 64 ORDER BY number
    `
    yield* sql`
      INSERT INTO deliveries (
        event_id, domain_id, webhook_id, position, status, attempts, due_at, delivered_at, last_error, recipient, sender
      )
      SELECT event_id, domain_id, domain_id, position, status, attempts,
        CASE WHEN status = 'pending' THEN now() + interval '1 day' ELSE received_at END,
        CASE WHEN status = 'delivered' THEN received_at END,
        CASE WHEN status <> 'delivered' THEN 'the webhook answered 500' END,
        CASE WHEN status = 'dead' THEN recipient END, CASE WHEN status = 'dead' THEN sender END
      FROM history ORDER BY number
    `
    yield* sql`
      INSERT INTO delivery_attempts (
        id, event_id, domain_id, attempt, url, requested_at, duration_ms, status_code, ok, error, response_body
      )
      SELECT overlay(event_id::text placing lpad(to_hex(attempt), 4, '0') from 33)::uuid, event_id, domain_id, attempt,
        'https://hooks.customer.example/mail', received_at + make_interval(mins => attempt - 1), 12,
        CASE WHEN ok THEN 200 ELSE 500 END, ok,
        CASE WHEN NOT ok THEN 'the webhook answered 500' END, CASE WHEN ok THEN '{"ok":true}' ELSE 'no' END
      FROM history
      CROSS JOIN LATERAL (
        SELECT attempt, status = 'delivered' AND attempt = attempts AS ok FROM generate_series(1, attempts) AS attempt
      ) AS tried
      ORDER BY number
    `
    // The daily figures would begin with all of it.
    yield* sql`
      INSERT INTO domain_days_counted (domain_id, position, attempts_until)
      SELECT domain_id, max(position), now() FROM history GROUP BY domain_id
      ON CONFLICT (domain_id) DO UPDATE SET position = excluded.position, attempts_until = excluded.attempts_until
    `
    for (const { definition } of indexes) yield* sql.unsafe(definition)
  },
  (seeding) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql.withTransaction(seeding)
      for (const table of growing) yield* sql`VACUUM (ANALYZE) ${sql(table)}`
      yield* sql`ANALYZE`
    }).pipe(Patience.forMuch)
)

/** Turns automatic ANALYZE off, because new statistics in the middle of a trial would change its plans. */
export const keepStatistics = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly tablename: string }>`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
  for (const { tablename } of tables) yield* sql`ALTER TABLE ${sql(tablename)} SET (autovacuum_enabled = off)`
})
