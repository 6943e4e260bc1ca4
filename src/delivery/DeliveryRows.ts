import type { SqlClient, Statement } from "effect/sql"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { WebhookId } from "../model/Webhook.ts"

// Writes to `deliveries` that belong to a change of something else: new mail, a changed domain, a replay, a start.

/** The webhook of a delivery. The column is null for the catch-all, which has the id of its domain. */
export const ofDelivery = (sql: SqlClient.SqlClient) =>
  sql.literal("coalesce(deliveries.webhook_id, deliveries.domain_id)")

/** Deliveries that nobody has leased. */
export const isFree = (sql: SqlClient.SqlClient) =>
  sql`status = 'pending' AND (leased_until IS NULL OR leased_until <= now())`

/** True if a delivery is pending. The order selects the index by webhook, which has pending deliveries only. */
export const pendingOne = (sql: SqlClient.SqlClient) =>
  sql`SELECT true FROM deliveries WHERE status = 'pending' ORDER BY ${ofDelivery(sql)} LIMIT 1`

/** Inserts the deliveries of the CTE `placed`, those with `is_leased` as leased. Part of the statement that writes events. */
export const insert = (sql: SqlClient.SqlClient, leaseSeconds: number) => sql`
  INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, hold_reason, due_at, attempts, leased_until, claimed_at)
  SELECT id, domain_id, nullif(webhook_id, domain_id), position,
    CASE WHEN action IN ('webhook', 'pull') AND hold_reason IS NULL THEN 'pending' ELSE 'held' END,
    hold_reason, now(),
    is_leased::int,
    CASE WHEN is_leased THEN now() + make_interval(secs => ${leaseSeconds}) END,
    CASE WHEN is_leased THEN now() END
  FROM placed
`

/**
 * Notes the previous URL in attempts that are in progress. Part of the statement that changes a webhook, with the CTE
 * `before`.
 */
export const keepUrl = (sql: SqlClient.SqlClient, webhookId: WebhookId, url: string | null) => sql`
  UPDATE deliveries SET claimed_url = coalesce(claimed_url, before.url)
  FROM before
  WHERE ${ofDelivery(sql)} = ${webhookId} AND deliveries.status = 'pending' AND leased_until IS NOT NULL
    -- A lease makes its delivery due, so the index finds it without those due later. now() is the start of the
    -- transaction, and the lease may have begun after it.
    AND due_at <= now() + interval '1 minute'
    AND before.url IS DISTINCT FROM ${url}
`

/** Maximum deliveries of a webhook that one statement holds, so that neither a client nor an outcome waits for it. */
export const mostHeld = 512

/**
 * Holds the undelivered mail of a webhook. `Claims.holdUnserved` holds what is more than that, which is not posted either,
 * because claims look at the webhook. In the order of claims, of which one may have begun before.
 */
export const hold = (sql: SqlClient.SqlClient, webhookId: WebhookId) =>
  sql`
    UPDATE deliveries SET status = 'held', leased_until = NULL
    WHERE event_id = ANY(ARRAY(
      SELECT event_id FROM deliveries
      WHERE ${ofDelivery(sql)} = ${webhookId} AND status = 'pending' ORDER BY due_at LIMIT ${mostHeld}
    )) AND ${ofDelivery(sql)} = ${webhookId} AND status = ${"pending"}
  `

/** Maximum deliveries of a webhook that one statement makes due. */
export const mostDue = 512

/**
 * Makes the waiting deliveries of a webhook due now that are due next, oldest first. `CatchingUp.ts` brings further ones
 * forward. `which` excludes some.
 */
export const makeDue = (sql: SqlClient.SqlClient, webhookId: WebhookId, which: Statement.Fragment = sql`true`) =>
  sql`
    UPDATE deliveries SET due_at = now() + make_interval(secs => (next.number - ${mostDue}) * 0.000001), retry_at = NULL
    FROM (
      SELECT event_id, row_number() OVER (ORDER BY position) AS number FROM (
        SELECT event_id, position FROM deliveries
        WHERE ${ofDelivery(sql)} = ${webhookId} AND status = 'pending' AND due_at > now() AND ${which}
        ORDER BY due_at LIMIT ${mostDue}
      ) AS waiting
    ) AS next
    WHERE deliveries.event_id = next.event_id AND deliveries.status = ${"pending"} AND deliveries.due_at > now()
  `

/**
 * Makes an undelivered event due with a new budget of attempts, with `force` also a delivered one: at its
 * webhook, or at another one of the domain. The catch-all takes one whose webhook is gone. Mail that a sender rule or
 * the mail scanner holds stays held until its release.
 */
export const replay = <Row extends object>(
  sql: SqlClient.SqlClient,
  {
    domainId,
    eventId,
    force,
    webhookId
  }: {
    readonly domainId: DomainId
    readonly eventId: EventId
    readonly force: boolean
    readonly webhookId: WebhookId | undefined
  }
): Statement.Statement<Row> => sql<Row>`
  UPDATE deliveries SET status = 'pending', spent = attempts, due_at = now(), retry_at = NULL, delivered_at = NULL,
    webhook_id = nullif(webhooks.id, deliveries.domain_id)
  FROM domains, webhooks
  WHERE deliveries.event_id = ${eventId} AND deliveries.domain_id = ${domainId}
    AND domains.id = ${domainId} AND domains.status <> 'disabled'
    AND webhooks.domain_id = ${domainId} AND webhooks.action IN ('webhook', 'pull')
    AND webhooks.id = coalesce(
      ${webhookId ?? null}::uuid, (SELECT id FROM webhooks AS own WHERE own.id = ${ofDelivery(sql)}), ${domainId}
    )
    AND (deliveries.status <> 'delivered' OR ${force}::boolean) AND deliveries.hold_reason IS NULL
  RETURNING webhooks.id AS webhook_id, deliveries.status, deliveries.attempts, deliveries.due_at, deliveries.delivered_at,
    deliveries.last_error
`

/**
 * Ends the hold of a sender rule: the delivery is due at its webhook, or at the catch-all if that is gone. It stays held
 * where that webhook takes none.
 */
export const release = <Row extends object>(
  sql: SqlClient.SqlClient,
  { domainId, eventId }: { readonly domainId: DomainId; readonly eventId: EventId }
): Statement.Statement<Row> => sql<Row>`
  UPDATE deliveries SET hold_reason = NULL, due_at = now(), webhook_id = nullif(webhooks.id, deliveries.domain_id),
    status = CASE WHEN webhooks.action IN ('webhook', 'pull') THEN 'pending' ELSE 'held' END
  FROM webhooks
  WHERE deliveries.event_id = ${eventId} AND deliveries.domain_id = ${domainId}
    AND deliveries.status = 'held' AND deliveries.hold_reason IS NOT NULL AND webhooks.domain_id = ${domainId}
    AND webhooks.id = coalesce((SELECT id FROM webhooks AS own WHERE own.id = ${ofDelivery(sql)}), ${domainId})
  RETURNING webhooks.id AS webhook_id, deliveries.status, deliveries.attempts, deliveries.due_at,
    deliveries.delivered_at, deliveries.last_error
`

/**
 * Makes the next attempt of a waiting delivery now. A failure puts it back to its schedule, so the attempt costs
 * nothing of the budget.
 */
export const tryNow = <Row extends object>(
  sql: SqlClient.SqlClient,
  { domainId, eventId }: { readonly domainId: DomainId; readonly eventId: EventId }
): Statement.Statement<Row> => sql<Row>`
  UPDATE deliveries SET retry_at = due_at, due_at = now()
  FROM domains, webhooks
  WHERE deliveries.event_id = ${eventId} AND deliveries.domain_id = ${domainId}
    AND deliveries.status = ${"pending"} AND deliveries.leased_until IS NULL AND deliveries.due_at > now()
    AND domains.id = ${domainId} AND domains.status <> 'disabled'
    AND webhooks.id = ${ofDelivery(sql)} AND webhooks.paused_at IS NULL
  RETURNING webhooks.id AS webhook_id, deliveries.status, deliveries.attempts, deliveries.due_at, deliveries.delivered_at,
    deliveries.last_error
`

/**
 * Replays many events in this order, those that still have this status: at one webhook, or each at its own. The
 * catch-all takes those whose webhook is gone. Part of a replay job's step.
 */
export const replayMany = (
  sql: SqlClient.SqlClient,
  {
    domainId,
    ids,
    status,
    webhookId
  }: {
    readonly domainId: DomainId
    readonly status: string
    readonly ids: ReadonlyArray<EventId>
    readonly webhookId: WebhookId | null
  }
) => sql<{ readonly eventId: EventId; readonly webhookId: WebhookId }>`
  UPDATE deliveries SET status = 'pending', spent = attempts, webhook_id = nullif(webhooks.id, deliveries.domain_id),
    due_at = now() + make_interval(secs => (ordinal - ${ids.length}) * 0.000001), retry_at = NULL, delivered_at = NULL
  FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS wanted (event_id, ordinal), webhooks
  WHERE deliveries.event_id = wanted.event_id AND deliveries.domain_id = ${domainId} AND deliveries.status = ${status}
    -- Mail that a sender rule holds is released one by one.
    AND deliveries.hold_reason IS NULL
    AND webhooks.domain_id = ${domainId} AND webhooks.action IN ('webhook', 'pull')
    AND webhooks.id = coalesce(
      ${webhookId}::uuid, (SELECT id FROM webhooks AS own WHERE own.id = ${ofDelivery(sql)}), ${domainId}
    )
  RETURNING deliveries.event_id, webhooks.id AS webhook_id
`

/** Ends the leases of workers that no longer exist. Leases of pull clients stay. */
export const endLeases = (sql: SqlClient.SqlClient) => sql`
  UPDATE deliveries SET leased_until = now()
  WHERE status = 'pending' AND leased_until > now() AND claimed_url IS DISTINCT FROM 'pull'
`
