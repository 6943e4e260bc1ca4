import { type DateTime, Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import * as DeliveryRows from "../delivery/DeliveryRows.ts"
import { DomainId, DomainName, Origin } from "../model/Domain.ts"
import { mostWaiting } from "../model/OperationalEvent.ts"
import { catchAll, catchAllOf, WebhookId } from "../model/Webhook.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import type * as Ledger from "./Ledger.ts"

/** The newest attempts among which the last failure is sought. */
const mostAttempts = 100

const time = Schema.NullOr(Schema.DateTimeUtcFromDate)

const Change = Schema.Struct({
  change: Schema.Literals(["paused", "resumed", "verified"]),
  at: Schema.DateTimeUtcFromDate,
  failingSince: time,
  pausedAt: time,
  domainId: DomainId,
  domain: DomainName,
  origin: Origin,
  workspaceId: WorkspaceId,
  webhookId: Schema.NullOr(WebhookId),
  pattern: Schema.NullOr(Schema.String),
  waiting: Schema.Int,
  lastError: Schema.NullOr(Schema.String)
})
type Change = typeof Change.Type

/** Takes the oldest change that a trigger noted, or none. Part of a transaction, so that no change is lost. */
const take = (sql: SqlClient.SqlClient) =>
  SqlSchema.findAll({
    Request: Schema.Void,
    Result: Change,
    execute: () => sql`
      WITH taken AS (
        DELETE FROM domain_changes WHERE id = (
          SELECT id FROM domain_changes ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
        )
        RETURNING *
      )
      SELECT change, at, taken.failing_since, taken.paused_at, taken.domain_id, domains.name AS domain, origin,
        workspace_id, taken.webhook_id, pattern,
        (
          SELECT count(*)::int FROM (
            SELECT 1 FROM deliveries
            WHERE ${DeliveryRows.ofDelivery(sql)} = taken.webhook_id AND status = 'pending' LIMIT ${mostWaiting}
          ) AS counted
        ) AS waiting,
        (
          SELECT error FROM (
            SELECT coalesce(webhook_id, domain_id) AS webhook_id, ok, error FROM delivery_attempts
            WHERE delivery_attempts.domain_id = taken.domain_id ORDER BY requested_at DESC LIMIT ${mostAttempts}
          ) AS recent WHERE NOT ok AND recent.webhook_id = taken.webhook_id LIMIT 1
        ) AS last_error
      FROM taken JOIN domains ON domains.id = taken.domain_id LEFT JOIN webhooks ON webhooks.id = taken.webhook_id
    `
  })

/** Records the oldest change of a domain that is not in the ledger. Succeeds with false if there is none. */
export const recordNext = (sql: SqlClient.SqlClient, record: Ledger.Record) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const [change] = yield* Bugs.die(take(sql)())
      if (change === undefined) return false
      const { domainId, webhookId, workspaceId } = change
      const details = detailsOf(change)
      // One of each webhook of the domain in an hour.
      const kind = webhookId === null ? details.type : `${details.type} ${webhookId}`
      yield* record({ workspaceId, domainId, kind, details })
      return true
    })
  )

const detailsOf = (change: Change): Ledger.Draft["details"] => {
  const { at, domain, domainId, failingSince, lastError, pattern, pausedAt, waiting, webhookId } = change
  const isCatchAll = pattern === null || pattern === catchAll
  const webhook = isCatchAll ? `webhook of ${domain}` : `webhook ${pattern} of ${domain}`
  const path = `/api/domains/${domainId}/webhooks/${webhookId ?? catchAllOf(domainId)}`
  const of = (message: string) => ({ occurred_at: at, domain_id: domainId, domain, message })
  const since = (from: DateTime.Utc | null) => from ?? at
  const which = webhookId === null ? {} : { webhook_id: webhookId, ...(pattern === null ? {} : { pattern }) }
  switch (change.change) {
    case "paused":
      return {
        type: "webhook.paused",
        ...of(
          `The ${webhook} is paused, because every attempt failed for days. ${countOf(waiting)}. Repair the endpoint, then resume it with PATCH ${path} {"action": "webhook"}. Inlet tries one delivery an hour meanwhile`
        ),
        ...which,
        failing_since: since(failingSince),
        last_error: lastError,
        waiting
      }
    case "resumed":
      return {
        type: "webhook.resumed",
        ...of(`The paused ${webhook} is in use again. ${countOf(waiting)} and follow now`),
        ...which,
        paused_at: since(pausedAt),
        waiting
      }
    case "verified":
      return change.origin === "purchased"
        ? {
            type: "domain.purchased",
            ...of(
              `${domain} was bought and verified, and takes mail. Set its webhook with PATCH /api/domains/${domainId}/delivery`
            )
          }
        : {
            type: "domain.verified",
            ...of(
              `${domain} is verified. Publish its MX record, which GET /api/domains/${domainId}/mx names, to receive mail`
            )
          }
  }
}

const countOf = (waiting: number) =>
  waiting >= mostWaiting
    ? `${mostWaiting} deliveries or more wait`
    : waiting === 1
      ? "1 delivery waits"
      : `${waiting} deliveries wait`
