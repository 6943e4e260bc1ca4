import { type Duration, Effect, Metric } from "effect"
import type { SqlClient } from "effect/sql"
import * as WebhookState from "../domains/webhook/WebhookState.ts"
import type { DomainId } from "../model/Domain.ts"
import * as DeliveryRows from "./DeliveryRows.ts"

const paused = Metric.counter("inlet_webhooks_paused_total", {
  description: "Webhooks paused, for they only failed",
  incremental: true
})
const resumed = Metric.counter("inlet_webhooks_resumed_total", {
  description: "Paused webhooks resumed",
  incremental: true
})

/** Records a failed attempt, and pauses the webhook when due. `wait` is the delay it requested. */
export const failed = Effect.fn("Pausing.failed")(function* (
  sql: SqlClient.SqlClient,
  { domainId, url, wait }: { readonly domainId: DomainId; readonly url: string; readonly wait: Duration.Duration }
) {
  const rows = yield* WebhookState.fail(sql, { domainId, url, wait })
  if (rows[0]?.isNew !== true) return
  yield* Metric.update(paused, 1)
  yield* Effect.logWarning(
    `Every attempt failed for ${WebhookState.failingDays} days, so the webhook is paused. Inlet tries one delivery an hour`
  ).pipe(Effect.annotateLogs({ domain_id: domainId }))
})

/** Clears the failures of a webhook after a success. Its retries then follow (`CatchingUp.ts`). */
export const succeeded = Effect.fn("Pausing.succeeded")((sql: SqlClient.SqlClient, domainId: DomainId) =>
  lift(sql, domainId, "failing")
)

/** A replay or a new URL resumes a paused webhook. */
export const resume = Effect.fn("Pausing.resume")((sql: SqlClient.SqlClient, domainId: DomainId) =>
  lift(sql, domainId, "paused")
)

/** Ends the failing or paused state of a webhook, whose waiting deliveries follow in steps, the first of them at once. */
const lift = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, domainId: DomainId, which: "failing" | "paused") {
  const rows = yield* sql<{ readonly wasPaused: boolean }>`
    WITH webhook AS (
      SELECT id, webhook_paused_at IS NOT NULL AS was_paused FROM domains
      WHERE id = ${domainId}
        AND (webhook_paused_at IS NOT NULL ${which === "paused" ? sql.literal("") : sql`OR webhook_failing_since IS NOT NULL`})
      FOR NO KEY UPDATE
    ), cleared AS (
      ${WebhookState.clear(sql)}
    ), due AS (
      ${DeliveryRows.makeDue(sql, domainId, sql`leased_until IS NULL AND (SELECT was_paused FROM webhook)`)}
    )
    SELECT was_paused FROM webhook
  `
  if (rows[0]?.wasPaused !== true) return
  yield* Metric.update(resumed, 1)
  yield* Effect.logInfo("A paused webhook was resumed. All its deliveries follow").pipe(
    Effect.annotateLogs({ domain_id: domainId })
  )
})
