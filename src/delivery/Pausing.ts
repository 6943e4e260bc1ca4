import { type Duration, Effect, Metric } from "effect"
import type { SqlClient } from "effect/sql"
import type { DomainId } from "../model/Domain.ts"
import type { WebhookId } from "../model/Webhook.ts"
import * as WebhookState from "../webhooks/state/WebhookState.ts"
import * as DeliveryRows from "./DeliveryRows.ts"

const paused = Metric.counter("inlet_webhooks_paused_total", {
  description: "Webhooks paused because all their requests failed",
  incremental: true
})
const resumed = Metric.counter("inlet_webhooks_resumed_total", {
  description: "Paused webhooks resumed",
  incremental: true
})

/** Makes the series. Prometheus counts no increase in the first value of a series. */
export const beginCount = Effect.andThen(Metric.update(paused, 0), Metric.update(resumed, 0))

/** Records a failed attempt, and pauses the webhook when due. `wait` is the delay it requested. */
export const failed = Effect.fn("Pausing.failed")(function* (
  sql: SqlClient.SqlClient,
  { url, wait, webhookId }: { readonly webhookId: WebhookId; readonly url: string; readonly wait: Duration.Duration }
) {
  const rows = yield* WebhookState.fail(sql, { webhookId, url, wait })
  if (rows[0]?.isNew !== true) return
  yield* Metric.update(paused, 1)
  yield* Effect.logWarning(
    `Every attempt failed for ${WebhookState.failingDays} days, so the webhook is paused. Inlet tries one delivery an hour`
  ).pipe(Effect.annotateLogs({ webhook_id: webhookId }))
})

/** Clears the failures of a webhook after a success. Its retries then follow (`CatchingUp.ts`). */
export const succeeded = Effect.fn("Pausing.succeeded")((sql: SqlClient.SqlClient, webhookId: WebhookId) =>
  lift(sql, webhookId, "failing")
)

/** A replay or a new URL resumes a paused webhook. */
export const resume = Effect.fn("Pausing.resume")((sql: SqlClient.SqlClient, webhookId: WebhookId) =>
  lift(sql, webhookId, "paused")
)

/** The same for one webhook of a domain, or for all that are paused. */
export const resumeAll = Effect.fn("Pausing.resumeAll")(function* (
  sql: SqlClient.SqlClient,
  domainId: DomainId,
  webhookId: WebhookId | null
) {
  const webhooks = yield* sql<{ readonly id: WebhookId }>`
    SELECT id FROM webhooks
    WHERE domain_id = ${domainId} AND paused_at IS NOT NULL AND (${webhookId}::uuid IS NULL OR id = ${webhookId})
  `
  yield* Effect.forEach(webhooks, ({ id }) => lift(sql, id, "paused"), { discard: true })
})

/** Ends the failing or paused state of a webhook, whose waiting deliveries follow in steps, the first of them at once. */
const lift = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, webhookId: WebhookId, which: "failing" | "paused") {
  const rows = yield* sql<{ readonly wasPaused: boolean }>`
    WITH webhook AS (
      SELECT id, paused_at IS NOT NULL AS was_paused FROM webhooks
      WHERE id = ${webhookId}
        AND (paused_at IS NOT NULL ${which === "paused" ? sql.literal("") : sql`OR failing_since IS NOT NULL`})
      FOR NO KEY UPDATE
    ), cleared AS (
      ${WebhookState.clear(sql)}
    ), due AS (
      ${DeliveryRows.makeDue(sql, webhookId, sql`leased_until IS NULL AND (SELECT was_paused FROM webhook)`)}
    )
    SELECT was_paused FROM webhook
  `
  if (rows[0]?.wasPaused !== true) return
  yield* Metric.update(resumed, 1)
  yield* Effect.logInfo("A paused webhook was resumed. All its deliveries follow").pipe(
    Effect.annotateLogs({ webhook_id: webhookId })
  )
})
