import { Duration } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { DomainId } from "../../model/Domain.ts"

// Writes to `domains` that follow from deliveries: the health of the webhook, and the first success.

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
  { domainId, url, wait }: { readonly domainId: DomainId; readonly url: string; readonly wait: Duration.Duration }
) => {
  const today = sql.literal("(now() AT TIME ZONE 'UTC')::date")
  return sql<{ readonly isNew: boolean }>`
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
      -- The next success begins anew.
      webhook_recovering_at = NULL,
      webhook_paused_at = CASE WHEN is_paused THEN coalesce(webhook_paused_at, now()) END,
      webhook_probe_at = CASE WHEN is_paused THEN greatest(
        coalesce(webhook_probe_at, now() + make_interval(secs => ${probeSeconds})),
        now() + make_interval(secs => ${Duration.toSeconds(wait)})
      ) END
    FROM judged
    WHERE domains.id = judged.id
    RETURNING webhook_paused_at IS NOT DISTINCT FROM now() AS is_new
  `
}

/**
 * Clears the failures of the domains in the CTE `webhook`, and lets them catch up. A webhook that
 * has failed for less than a minute goes on where it was, with half of its step, so that a few deliveries that always
 * fail do not keep it at the oldest ones.
 */
export const clear = (sql: SqlClient.SqlClient) => sql`
  UPDATE domains SET
    webhook_failing_since = NULL, webhook_paused_at = NULL, webhook_probe_at = NULL,
    webhook_recovering_at = now(),
    webhook_recovery_step = CASE WHEN webhook_failing_since > now() - interval '1 minute'
      THEN greatest(webhook_recovery_step / 2, 1) ELSE 1 END,
    webhook_recovery_position = CASE WHEN webhook_failing_since > now() - interval '1 minute'
      THEN webhook_recovery_position ELSE 0 END
  FROM webhook WHERE domains.id = webhook.id
`

/** Locks the webhooks that have a next step to catch up. */
export const takeRecovering = (sql: SqlClient.SqlClient, most: number) => sql`
  SELECT id, webhook_recovery_step AS step, webhook_recovery_position AS position FROM domains
  WHERE webhook_recovering_at <= now() AND status <> 'disabled' AND webhook_url IS NOT NULL
    AND webhook_paused_at IS NULL
  ORDER BY webhook_recovering_at LIMIT ${most}
  FOR NO KEY UPDATE SKIP LOCKED
`

/** Stores the next step of the domains in the CTE `advanced`, a second later. Without `is_more` they have caught up. */
export const advanceRecovery = (sql: SqlClient.SqlClient) => sql`
  UPDATE domains SET
    webhook_recovering_at = CASE WHEN is_more THEN now() + interval '1 second' END,
    webhook_recovery_step = CASE WHEN is_more THEN advanced.step ELSE 1 END,
    webhook_recovery_position = CASE WHEN is_more THEN advanced.position ELSE 0 END
  FROM advanced WHERE domains.id = advanced.id
`

/** Takes paused webhooks whose next trial is due and that have what `waiting` asks for, and postpones their next trial. */
export const takeProbes = (sql: SqlClient.SqlClient, most: number, waiting: Statement.Fragment) => sql`
  UPDATE domains SET webhook_probe_at = now() + make_interval(secs => ${probeSeconds})
  WHERE id = ANY(ARRAY(
    SELECT id FROM domains
    WHERE webhook_probe_at <= now() AND status <> 'disabled' AND webhook_url IS NOT NULL
      AND (${waiting})
    ORDER BY webhook_probe_at LIMIT ${most}
    FOR NO KEY UPDATE SKIP LOCKED
  ))
  RETURNING id, webhook_url, workspace_id
`

/** Makes the domains live whose mail was delivered first. `delivered` selects their ids. */
export const makeLive = (sql: SqlClient.SqlClient, delivered: Statement.Fragment) => sql`
  UPDATE domains SET status = 'live', live_at = now()
  WHERE status IN ('verified', 'mx_pending') AND id IN (${delivered})
`
