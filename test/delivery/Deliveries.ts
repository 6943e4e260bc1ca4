import { NodeCrypto } from "@effect/platform-node"
import { Array, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { FormatSender } from "../../src/delivery/FormatSender.ts"
import { DomainId } from "../../src/model/Domain.ts"
import { EventId } from "../../src/model/InboundEvent.ts"
import { WorkspaceName } from "../../src/model/Workspace.ts"
import { Workspaces } from "../../src/workspaces/Workspaces.ts"

/** For workers whose webhooks all have Inlet's own format. */
export const noFormats = Layer.succeed(FormatSender, { send: () => Effect.die("no webhook has another format") })

/** Sets the URL of a domain's catch-all. Null holds its mail. */
export const target = Effect.fnUntraced(function* (domainId: DomainId, url: string | null) {
  const sql = yield* SqlClient.SqlClient
  const action = url === null ? "hold" : "webhook"
  yield* sql`UPDATE webhooks SET action = ${action}, url = ${url} WHERE id = ${domainId}`
})

/** A verified domain in a workspace of its own, as the API would create it. */
export const domain = Effect.fnUntraced(function* (webhookUrl: string | null) {
  const sql = yield* SqlClient.SqlClient
  const workspaces = yield* Workspaces
  const random = yield* SecureRandom.SecureRandom
  const { id: workspaceId, signingSecret } = yield* workspaces.create(WorkspaceName.make("test"))
  const id = DomainId.make(yield* random.uuidV7())
  yield* sql`
      INSERT INTO domains (id, workspace_id, name, origin, status, verified_at)
      VALUES (${id}, ${workspaceId}, ${`${id}.example`}, 'byo', 'mx_pending', now())
    `
  yield* target(id, webhookUrl)
  return { id, workspaceId, signingSecret }
}, Effect.provide(NodeCrypto.layer))

/** Events of a domain as the reader would write them, each with a pending delivery, the first due first. */
export const pending = Effect.fnUntraced(function* (domainId: DomainId, count: number) {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const ids = yield* Effect.forEach(Array.range(1, count), () => Effect.map(random.uuidV7(), (id) => EventId.make(id)))
  const emailId = yield* random.uuidV7()
  yield* sql`
      INSERT INTO inbound_emails (
        id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, trace_bytes
      )
      VALUES (${emailId}, ${domainId}, now(), ''::bytea, '', 'sender.example', '127.0.0.1', '{}', 'read', 0)
    `
  yield* sql`
      WITH last AS (
        INSERT INTO event_positions AS positions (domain_id, position) VALUES (${domainId}, ${count})
        ON CONFLICT (domain_id) DO UPDATE SET position = positions.position + excluded.position
        RETURNING position
      ), inserted AS (
        INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload)
        SELECT new.id, ${domainId}, ${emailId}, last.position - ${count} + new.ordinal, 'a@b.example', 'c@d.example',
          now(), json_build_object('event_id', new.id)::text
        FROM last, unnest(${ids}::uuid[]) WITH ORDINALITY AS new (id, ordinal)
        RETURNING id, domain_id, position
      )
      INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, due_at)
      SELECT id, domain_id, domain_id, position, 'pending', now() - interval '1 minute' + make_interval(secs => position * 0.001)
      FROM inserted
    `
  return ids
}, Effect.provide(NodeCrypto.layer))

/** The same in large numbers, each with a payload of 2 KiB. */
export const backlog = Effect.fnUntraced(function* (domainId: DomainId, count: number) {
  const sql = yield* SqlClient.SqlClient
  const [email] = yield* sql<{ readonly id: string }>`
    INSERT INTO inbound_emails (
      id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, trace_bytes
    )
    VALUES (gen_random_uuid(), ${domainId}, now(), ''::bytea, '', 'sender.example', '127.0.0.1', '{}', 'read', 0)
    RETURNING id
  `
  yield* sql`
    WITH inserted AS (
      INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload)
      SELECT gen_random_uuid(), ${domainId}, ${email?.id}, number, 'a@b.example', 'c@d.example', now(),
        json_build_object('text', repeat('x', 2048))::text
      FROM generate_series(1, ${count}::int) AS number
      RETURNING id, domain_id, position
    )
    INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, due_at)
    SELECT id, domain_id, domain_id, position, 'pending', now() - interval '1 hour' FROM inserted
  `
})

/** One event with a due delivery for each of many domains. */
export const pendingOfEach = Effect.fnUntraced(function* (domainIds: ReadonlyArray<DomainId>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    WITH email AS (
      INSERT INTO inbound_emails (
        id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, trace_bytes
      )
      SELECT gen_random_uuid(), id, now(), ''::bytea, '', 'sender.example', '127.0.0.1', '{}', 'read', 0
      FROM unnest(${domainIds}::uuid[]) AS domain (id)
      RETURNING id, domain_id
    ), inserted AS (
      INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload)
      SELECT gen_random_uuid(), domain_id, id, 1, 'a@b.example', 'c@d.example', now(), '{}'
      FROM email
      RETURNING id, domain_id, position
    )
    INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, due_at)
    SELECT id, domain_id, domain_id, position, 'pending', now() FROM inserted
  `
})

/** The row of a delivery. */
export const delivery = Effect.fnUntraced(function* (eventId: EventId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{
    readonly status: string
    readonly attempts: number
    readonly dueIn: number
    readonly leasedFor: number | null
    readonly lastError: string | null
    readonly deliveredAt: Date | null
  }>`
    SELECT status, attempts, last_error, delivered_at,
      extract(epoch FROM due_at - now())::float8 AS due_in,
      extract(epoch FROM leased_until - now())::float8 AS leased_for
    FROM deliveries WHERE event_id = ${eventId}
  `
  return row ?? (yield* Effect.die(`no delivery of ${eventId}`))
})

/** Every attempt of an event, in order. */
export const attempts = Effect.fnUntraced(function* (eventId: EventId) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{
    readonly attempt: number
    readonly ok: boolean
    readonly statusCode: number | null
    readonly error: string | null
    readonly url: string
  }>`
    SELECT attempt, ok, status_code, error, url FROM delivery_attempts WHERE event_id = ${eventId} ORDER BY attempt
  `
})

/** Moves the next attempt of a delivery away from now. */
export const postpone = Effect.fnUntraced(function* (id: EventId, time: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE deliveries SET due_at = now() + ${time}::interval WHERE event_id = ${id}`
})

/** Moves all due times, leases and webhook failures back by this time. */
export const pass = Effect.fnUntraced(function* (time: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE deliveries SET
      due_at = due_at - ${time}::interval,
      retry_at = retry_at - ${time}::interval,
      leased_until = leased_until - ${time}::interval,
      claimed_at = claimed_at - ${time}::interval
  `
  yield* sql`
    UPDATE webhooks SET
      failing_since = failing_since - ${time}::interval,
      paused_at = paused_at - ${time}::interval,
      probe_at = probe_at - ${time}::interval,
      failed_on = (failed_on - ${time}::interval)::date
    WHERE failing_since IS NOT NULL
  `
})

/** Simulates all but the last of the failures that a pause needs: a day and a failure are missing. */
export const failedOften = Effect.fnUntraced(function* (domainId: DomainId) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE webhooks SET failures = 9, failure_days = 2, failed_on = failed_on - 1
    WHERE id = ${domainId}
  `
})

/** The columns of a webhook. */
export const webhook = Effect.fnUntraced(function* (domainId: DomainId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly failing: boolean; readonly paused: boolean; readonly probeIn: number | null }>`
    SELECT failing_since IS NOT NULL AS failing, paused_at IS NOT NULL AS paused,
      extract(epoch FROM probe_at - now())::float8 AS probe_in
    FROM webhooks WHERE id = ${domainId}
  `
  return row ?? (yield* Effect.die(`no domain ${domainId}`))
})
