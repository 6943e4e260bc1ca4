import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import * as DeliveryRows from "../delivery/DeliveryRows.ts"
import { DeliveryStatus } from "../model/Delivery.ts"
import { DomainId, DomainName, DomainStatus } from "../model/Domain.ts"
import { InboundEmailId } from "../model/InboundEmail.ts"
import { EventId } from "../model/InboundEvent.ts"
import * as Traits from "../model/Traits.ts"
import { HoldReason } from "../model/Trust.ts"
import { WebhookAction, WebhookId } from "../model/Webhook.ts"

/** Attempts that an entry shows, the last ones. */
export const mostAttempts = 10

const date = Schema.NullOr(Schema.DateTimeUtcFromDate)
const text = Schema.NullOr(Schema.String)

const stored = {
  inboundEmailId: InboundEmailId,
  domainId: DomainId,
  domain: DomainName,
  receivedAt: Schema.DateTimeUtcFromDate,
  mailFrom: Schema.String,
  helo: Schema.String,
  remoteAddress: Schema.String,
  relayed: Schema.Boolean,
  recipients: Schema.Array(Schema.String),
  tls: text,
  bytes: Schema.NullOr(Schema.Int),
  readAttempts: Schema.Int,
  /** Milliseconds from the end of the message to its commit, or null if unknown. */
  storedMs: Schema.NullOr(Schema.Int)
}

/** A message without events. */
export const UnreadMail = Schema.Struct(stored)
export type UnreadMail = typeof UnreadMail.Type

const Attempt = Schema.Struct({
  eventId: EventId,
  attempt: Schema.Int,
  requestedAt: Schema.DateTimeUtcFromDate,
  durationMs: Schema.NullOr(Schema.Int),
  statusCode: Schema.NullOr(Schema.Int),
  ok: Schema.Boolean,
  error: text,
  url: Schema.String
})
export type Attempt = typeof Attempt.Type

const ReadMail = Schema.Struct({
  ...stored,
  eventId: EventId,
  recipient: Schema.String,
  author: Schema.String,
  subject: text,
  /** The start of the payload, which has the Message-ID. */
  head: Schema.String,
  traits: Schema.NullOr(Schema.Int),
  readAt: Schema.DateTimeUtcFromDate,
  authenticationResults: text,
  status: DeliveryStatus,
  attempts: Schema.Int,
  dueAt: Schema.DateTimeUtcFromDate,
  isLeased: Schema.Boolean,
  deliveredAt: date,
  lastError: text,
  holdReason: Schema.NullOr(HoldReason),
  /** The end of the payload of mail that was scanned or that a sender rule holds, which has what was judged. */
  tail: text,
  webhookUrl: text,
  webhookId: WebhookId,
  /** Null if the webhook was removed. */
  pattern: text,
  action: Schema.NullOr(WebhookAction),
  domainStatus: DomainStatus,
  disabledReason: text,
  pausedAt: date,
  probeAt: date
})

/** A message for one recipient, with its delivery. */
export type ReadMail = typeof ReadMail.Type & { readonly made: ReadonlyArray<Attempt> }

/** Characters of a subject that a trace shows. */
const mostOfSubject = 500

/** Characters of the payload that may hold the Message-ID. */
const headLength = 4_000

/** Characters of the payload that may hold `trust` and `spam`, its last fields. */
const tailLength = 6_000

/** Loads what a trace shows of mails. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const ofMail = sql`
    inbound_emails.id AS inbound_email_id, domains.id AS domain_id, domains.name AS domain,
    mail_from, helo, remote_address, relayed, recipients, tls, raw_bytes - trace_bytes AS bytes, read_attempts, stored_ms
  `

  const attempts = SqlSchema.findAll({
    Request: Schema.Array(EventId),
    Result: Attempt,
    execute: (ids) => sql`
      SELECT made.event_id, attempt, requested_at, duration_ms, status_code, ok, error, url
      FROM unnest(${ids}::uuid[]) AS asked (id) CROSS JOIN LATERAL (
        SELECT * FROM delivery_attempts WHERE event_id = asked.id ORDER BY attempt DESC LIMIT ${mostAttempts}
      ) AS made
      ORDER BY attempt
    `
  })

  const events = SqlSchema.findAll({
    Request: Schema.Array(Schema.String),
    Result: ReadMail,
    execute: (ids) => sql`
      SELECT ${ofMail}, events.received_at, events.id AS event_id, events.recipient, events.sender AS author, left(subject, ${mostOfSubject}) AS subject,
        left(payload, ${headLength}) AS head, traits, read_at, authentication_results,
        deliveries.status, deliveries.attempts, due_at, deliveries.leased_until IS NOT NULL AS is_leased, delivered_at, last_error,
        hold_reason, CASE WHEN hold_reason IS NOT NULL OR traits & ${sql.literal(`${Traits.verdictBits}`)} > 0 THEN right(payload, ${tailLength}) END AS tail,
        ${DeliveryRows.ofDelivery(sql)} AS webhook_id, url AS webhook_url, pattern, action, domains.status AS domain_status, disabled_reason, paused_at, probe_at
      FROM events
      JOIN inbound_emails ON inbound_emails.id = events.inbound_email_id
      JOIN deliveries ON deliveries.event_id = events.id
      JOIN domains ON domains.id = events.domain_id
      LEFT JOIN webhooks ON webhooks.id = ${DeliveryRows.ofDelivery(sql)}
      WHERE events.id = ANY(${ids}::uuid[])
    `
  })

  const unread = SqlSchema.findAll({
    Request: Schema.Array(Schema.String),
    Result: UnreadMail,
    execute: (ids) => sql`
      SELECT ${ofMail}, received_at FROM inbound_emails JOIN domains ON domains.id = inbound_emails.domain_id
      WHERE inbound_emails.id = ANY(${ids}::uuid[])
    `
  })

  return {
    read: Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
      const mails = ids.length === 0 ? [] : yield* Bugs.die(events(ids))
      const made = mails.length === 0 ? [] : yield* Bugs.die(attempts(mails.map(({ eventId }) => eventId)))
      const byEvent = Map.groupBy(made, ({ eventId }) => eventId)
      return mails.map((mail): ReadMail => ({ ...mail, made: byEvent.get(mail.eventId) ?? [] }))
    }),
    unread: (ids: ReadonlyArray<string>) => (ids.length === 0 ? Effect.succeed([]) : Bugs.die(unread(ids)))
  }
})
