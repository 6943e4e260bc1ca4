import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as EarlierVersion from "../database/EarlierVersion.ts"
import * as DeliveryRows from "../delivery/DeliveryRows.ts"
import { plainFormat, type WebhookAction, type WebhookId } from "../model/Webhook.ts"
import * as WebhookWire from "./WebhookWire.ts"

/** Where a webhook sends mail. The URL is set for the action `webhook` only. */
export interface Target {
  readonly action: WebhookAction
  readonly url: string | null
  /** Inlet's own format by default. */
  readonly wire?: WebhookWire.Wire
}

/**
 * Changes where a webhook sends mail. Its undelivered mail follows: it is due at a new URL, waits for a lease, or is
 * held. Attempts in progress keep the URL they went to. Succeeds with false if the webhook has this target already.
 * Part of a transaction.
 */
export const change = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  webhookId: WebhookId,
  { action, url, wire = WebhookWire.plain }: Target
) {
  if (action === "reject" || wire.format !== plainFormat) yield* EarlierVersion.refuse(sql)
  const [changed] = yield* sql`
    WITH before AS (
      SELECT id, url, action, format, credentials FROM webhooks WHERE id = ${webhookId} FOR NO KEY UPDATE
    ), under_way AS (
      ${DeliveryRows.keepUrl(sql, webhookId, url)}
    )
    UPDATE webhooks SET
      action = ${action}, url = ${url}, format = ${wire.format}, credentials = ${wire.credentials},
      basic_auth = ${wire.basicAuth}, failing_since = NULL,
      -- Deliveries that wait follow to the new URL.
      recovering_at = CASE WHEN ${url}::text IS NOT NULL THEN now() END, recovery_step = 1, recovery_position = 0
    FROM before
    WHERE webhooks.id = before.id AND (
      before.url IS DISTINCT FROM ${url} OR before.action <> ${action} OR before.format <> ${wire.format}
      OR before.credentials IS DISTINCT FROM ${wire.credentials}::bytea
    )
    RETURNING webhooks.id
  `
  if (changed === undefined) return false
  // A new URL is usually a repaired one, so mail goes there now. CatchingUp brings what is more than that.
  if (action === "webhook") yield* DeliveryRows.makeDue(sql, webhookId)
  else if (action !== "pull") yield* DeliveryRows.hold(sql, webhookId)
  return true
})
