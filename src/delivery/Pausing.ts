import { Duration, Effect, Metric } from "effect"
import type { SqlClient } from "effect/sql"
import type { DomainId } from "../model/Domain.ts"

/** Days of failures only, over all deliveries, before a webhook is paused. */
export const failingDays = 5

/** Minimum failures and UTC days of failures before a pause, so that a clock jump does not pause. */
export const fewestFailures = 10
export const fewestDays = 3

/** Interval of trials of a paused webhook. */
export const probeEvery = Duration.hours(1)

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
  const today = sql.literal("(now() AT TIME ZONE 'UTC')::date")
  const rows = yield* sql<{ readonly isNew: boolean }>`
    WITH counted AS (
      SELECT id,
        CASE WHEN webhook_failing_since IS NULL THEN 1 ELSE webhook_failures + 1 END AS failures,
        CASE WHEN webhook_failing_since IS NULL THEN 1
          ELSE webhook_failure_days + (webhook_failed_on IS DISTINCT FROM ${today})::int END AS days
      FROM domains
      WHERE id = ${domainId} AND webhook_url = ${url}
      FOR NO KEY UPDATE
    ), judged AS (
      SELECT counted.*, domains.webhook_paused_at IS NOT NULL OR (
        webhook_failing_since <= now() - make_interval(days => ${failingDays})
        AND failures >= ${fewestFailures} AND days >= ${fewestDays}
      ) AS is_paused
      FROM counted JOIN domains USING (id)
    )
    UPDATE domains SET
      webhook_failing_since = coalesce(webhook_failing_since, now()),
      webhook_failures = failures,
      webhook_failure_days = days,
      webhook_failed_on = ${today},
      webhook_paused_at = CASE WHEN is_paused THEN coalesce(webhook_paused_at, now()) END,
      webhook_probe_at = CASE WHEN is_paused THEN greatest(
        coalesce(webhook_probe_at, now() + make_interval(secs => ${Duration.toSeconds(probeEvery)})),
        now() + make_interval(secs => ${Duration.toSeconds(wait)})
      ) END
    FROM judged
    WHERE domains.id = judged.id
    RETURNING webhook_paused_at IS NOT DISTINCT FROM now() AS is_new
  `
  if (rows[0]?.isNew !== true) return
  yield* Metric.update(paused, 1)
  yield* Effect.logWarning(
    `Every attempt failed for ${failingDays} days, so the webhook is paused. Inlet tries one delivery an hour`
  ).pipe(Effect.annotateLogs({ domain_id: domainId }))
})

/** Clears the failures of a webhook after a success. */
export const succeeded = Effect.fn("Pausing.succeeded")((sql: SqlClient.SqlClient, domainId: DomainId) =>
  lift(sql, domainId, "failing")
)

/** A replay or a new URL resumes a paused webhook. */
export const resume = Effect.fn("Pausing.resume")((sql: SqlClient.SqlClient, domainId: DomainId) =>
  lift(sql, domainId, "paused")
)

/** Makes all its deliveries due, oldest first. */
const lift = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, domainId: DomainId, which: "failing" | "paused") {
  const rows = yield* sql<{ readonly wasPaused: boolean }>`
    WITH webhook AS (
      SELECT id, webhook_paused_at IS NOT NULL AS was_paused FROM domains
      WHERE id = ${domainId}
        AND (webhook_paused_at IS NOT NULL ${which === "paused" ? sql.literal("") : sql`OR webhook_failing_since IS NOT NULL`})
      FOR NO KEY UPDATE
    ), cleared AS (
      UPDATE domains SET webhook_failing_since = NULL, webhook_paused_at = NULL, webhook_probe_at = NULL
      FROM webhook WHERE domains.id = webhook.id
    ), due AS (
      UPDATE deliveries SET due_at = now()
      FROM webhook
      WHERE webhook.was_paused AND deliveries.domain_id = webhook.id AND deliveries.status = 'pending'
        AND deliveries.due_at > now() AND deliveries.leased_until IS NULL
    )
    SELECT was_paused FROM webhook
  `
  if (rows[0]?.wasPaused !== true) return
  yield* Metric.update(resumed, 1)
  yield* Effect.logInfo("A paused webhook was resumed. All its deliveries are due").pipe(
    Effect.annotateLogs({ domain_id: domainId })
  )
})
