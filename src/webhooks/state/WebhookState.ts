import { Duration } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { WebhookId } from "../../model/Webhook.ts"

// Writes to `webhooks` that follow from deliveries: the health of a webhook.

/** Days of failures only, over all deliveries, before a webhook is paused. */
export const failingDays = 5

/** Minimum failures and UTC days of failures before a pause, so that a clock jump does not pause. */
export const fewestFailures = 10
export const fewestDays = 3

/** Interval of trials of a paused webhook. */
export const probeEvery = Duration.hours(1)
const probeSeconds = Duration.toSeconds(probeEvery)

/** Counts a failure, and pauses the webhook when due. Returns whether it is paused since now. */
export const fail = (
  sql: SqlClient.SqlClient,
  { url, wait, webhookId }: { readonly webhookId: WebhookId; readonly url: string; readonly wait: Duration.Duration }
) => {
  const today = sql.literal("(now() AT TIME ZONE 'UTC')::date")
  return sql<{ readonly isNew: boolean }>`
    WITH counted AS (
      SELECT id,
        CASE WHEN failing_since IS NULL THEN 1 ELSE failures + 1 END AS now_failures,
        CASE WHEN failing_since IS NULL THEN 1
          ELSE failure_days + (failed_on IS DISTINCT FROM ${today})::int END AS days
      FROM webhooks
      WHERE id = ${webhookId} AND url = ${url}
      FOR NO KEY UPDATE
    ), judged AS (
      SELECT counted.*, webhooks.paused_at IS NOT NULL OR (
        failing_since <= now() - make_interval(days => ${failingDays})
        AND now_failures >= ${fewestFailures} AND days >= ${fewestDays}
      ) AS is_paused
      FROM counted JOIN webhooks USING (id)
    )
    UPDATE webhooks SET
      failing_since = coalesce(failing_since, now()),
      failures = now_failures,
      failure_days = days,
      failed_on = ${today},
      -- The next success begins anew.
      recovering_at = NULL,
      paused_at = CASE WHEN is_paused THEN coalesce(paused_at, now()) END,
      probe_at = CASE WHEN is_paused THEN greatest(
        coalesce(probe_at, now() + make_interval(secs => ${probeSeconds})),
        now() + make_interval(secs => ${Duration.toSeconds(wait)})
      ) END
    FROM judged
    WHERE webhooks.id = judged.id
    RETURNING paused_at IS NOT DISTINCT FROM now() AS is_new
  `
}

/**
 * Clears the failures of the webhooks in the CTE `webhook`, and lets them catch up. A webhook that
 * has failed for less than a minute goes on where it was, with half of its step, so that a few deliveries that always
 * fail do not keep it at the oldest ones.
 */
export const clear = (sql: SqlClient.SqlClient) => sql`
  UPDATE webhooks SET
    failing_since = NULL, paused_at = NULL, probe_at = NULL,
    recovering_at = now(),
    recovery_step = CASE WHEN failing_since > now() - interval '1 minute'
      THEN greatest(recovery_step / 2, 1) ELSE 1 END,
    recovery_position = CASE WHEN failing_since > now() - interval '1 minute'
      THEN recovery_position ELSE 0 END
  FROM webhook WHERE webhooks.id = webhook.id
`

/** Locks the webhooks that have a next step to catch up. */
export const takeRecovering = (sql: SqlClient.SqlClient, most: number) => sql`
  SELECT webhooks.id, domain_id, recovering_at AS since, recovery_step AS step, recovery_position AS position
  FROM webhooks JOIN domains ON domains.id = domain_id
  WHERE recovering_at <= now() AND status <> 'disabled' AND url IS NOT NULL AND paused_at IS NULL
  ORDER BY recovering_at LIMIT ${most}
  FOR NO KEY UPDATE OF webhooks SKIP LOCKED
`

/** Stores the next step of the webhooks in the CTE `advanced`, a second later. Without `is_more` they have caught up. */
export const advanceRecovery = (sql: SqlClient.SqlClient) => sql`
  UPDATE webhooks SET
    recovering_at = CASE WHEN is_more THEN now() + interval '1 second' END,
    recovery_step = CASE WHEN is_more THEN advanced.step ELSE 1 END,
    recovery_position = CASE WHEN is_more THEN advanced.position ELSE 0 END
  FROM advanced WHERE webhooks.id = advanced.id
`

/** Takes paused webhooks whose next trial is due and that have what `waiting` asks for, and postpones their next trial. */
export const takeProbes = (sql: SqlClient.SqlClient, most: number, waiting: Statement.Fragment) => sql`
  UPDATE webhooks SET probe_at = now() + make_interval(secs => ${probeSeconds})
  FROM domains
  WHERE domains.id = domain_id AND webhooks.id = ANY(ARRAY(
    SELECT webhooks.id FROM webhooks JOIN domains ON domains.id = domain_id
    WHERE probe_at <= now() AND status <> 'disabled' AND url IS NOT NULL AND (${waiting})
    ORDER BY probe_at LIMIT ${most}
    FOR NO KEY UPDATE OF webhooks SKIP LOCKED
  ))
  RETURNING webhooks.*, workspace_id
`
