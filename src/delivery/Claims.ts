import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema, type Statement } from "effect/sql"
import * as Columns from "../database/Columns.ts"
import { WebhookId } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as WebhookState from "../webhooks/state/WebhookState.ts"
import * as DeliveryRows from "./DeliveryRows.ts"
import * as FailureReason from "./FailureReason.ts"
import { type Lease, pull, SealedDelivery, SealedPull } from "./Lease.ts"
import * as SeenDeliveries from "./SeenDeliveries.ts"

/** Maximum number of webhooks one query returns. */
const mostWebhooks = 10_000

/** Webhooks that take deliveries. */
const isPushed = (sql: SqlClient.SqlClient) => sql`webhooks.url IS NOT NULL AND webhooks.paused_at IS NULL`

/** Walks the index webhook by webhook, so that it never scans one webhook's backlog to find another's mail. */
const pendingWebhooks = (sql: SqlClient.SqlClient) => sql`
  waiting AS (
    (
      SELECT ${DeliveryRows.ofDelivery(sql)} AS webhook_id FROM deliveries
      WHERE status = 'pending' ORDER BY ${DeliveryRows.ofDelivery(sql)} LIMIT 1
    )
    UNION ALL
    SELECT (
      SELECT ${DeliveryRows.ofDelivery(sql)} FROM deliveries
      WHERE status = 'pending' AND ${DeliveryRows.ofDelivery(sql)} > waiting.webhook_id
      ORDER BY ${DeliveryRows.ofDelivery(sql)} LIMIT 1
    )
    FROM waiting WHERE waiting.webhook_id IS NOT NULL
  )
`

const waiting = (sql: SqlClient.SqlClient, served: Statement.Fragment) => sql`
  ${pendingWebhooks(sql)}, ready AS (
    SELECT webhooks.id, webhooks.action, webhooks.workspace_id, oldest.due_at
    FROM waiting
    CROSS JOIN LATERAL (
      SELECT webhooks.id, action, workspace_id FROM webhooks JOIN domains ON domains.id = webhooks.domain_id
      WHERE webhooks.id = waiting.webhook_id AND domains.status <> 'disabled' AND (${served}) LIMIT 1
    ) AS webhooks
    CROSS JOIN LATERAL (
      SELECT due_at FROM deliveries
      WHERE ${DeliveryRows.ofDelivery(sql)} = waiting.webhook_id AND ${DeliveryRows.isFree(sql)} AND due_at <= now()
      ORDER BY due_at LIMIT 1
    ) AS oldest
  )
`

/** Takes the first row of `found`, and further rows up to the byte limit. */
const within = (sql: SqlClient.SqlClient, mostBytes: number) => sql`
  sized AS (
    SELECT found.*, sum(octet_length(events.payload)) OVER (ORDER BY found.due_at, found.event_id)
      - octet_length(events.payload) AS bytes_before
    FROM found JOIN events ON events.id = found.event_id
  ), due AS (
    SELECT * FROM sized WHERE bytes_before < ${mostBytes}
  )
`

/** The columns about signatures: those of the webhook, if it has a secret of its own, or else of its workspace. */
export const secrets = (sql: SqlClient.SqlClient, webhook: Statement.Fragment) => sql`
  workspaces.id AS workspace_id, ${webhook}.signing_secret IS NOT NULL AS has_own_secret,
  coalesce(${webhook}.signing_secret, workspaces.signing_secret) AS signing_secret,
  CASE
    WHEN ${webhook}.signing_secret IS NOT NULL
      THEN CASE WHEN ${webhook}.previous_secret_until > now() THEN ${webhook}.previous_signing_secret END
    WHEN workspaces.previous_secret_until > now() THEN workspaces.previous_signing_secret
  END AS previous_signing_secret
`

/** The columns of a webhook that its deliveries need. */
export const ofWebhook = (sql: SqlClient.SqlClient) =>
  sql.literal(`webhooks.url, webhooks.format, webhooks.credentials, webhooks.signing_secret,
    webhooks.previous_signing_secret, webhooks.previous_secret_until`)

/** Leases the rows of `due`. Taking over an expired lease inserts a row that lists the unfinished attempt. */
const lease = (
  sql: SqlClient.SqlClient,
  leaseSeconds: number,
  due: Statement.Fragment,
  { columns, claimedUrl } = {
    claimedUrl: sql`NULL`,
    // As bytes, which are posted as they are: text would be decoded and encoded again.
    columns: sql`due.url, due.format, due.credentials, convert_to(events.payload, 'UTF8') AS payload`
  }
) => sql`
  WITH RECURSIVE ${due}, lost AS (
    INSERT INTO delivery_attempts (id, event_id, domain_id, webhook_id, attempt, url, requested_at, ok, error)
    SELECT gen_random_uuid(), due.event_id, events.domain_id, nullif(due.webhook_id, events.domain_id), due.attempts,
      -- A lease of a webhook that was taken away in the same moment knows of none.
      coalesce(due.claimed_url, due.url, '${sql.literal(pull)}'),
      coalesce(due.claimed_at, due.leased_until - make_interval(secs => ${leaseSeconds})),
      false, CASE WHEN due.claimed_url = '${sql.literal(pull)}' THEN '${sql.literal(FailureReason.untold)}'
        ELSE '${sql.literal(FailureReason.workerStopped)}' END
    FROM due JOIN events ON events.id = due.event_id
    WHERE due.leased_until IS NOT NULL
    ON CONFLICT (event_id, attempt) DO NOTHING
  )
  UPDATE deliveries SET
    attempts = deliveries.attempts + 1,
    -- A probe may come before its time; should its worker stop, it is due.
    due_at = least(deliveries.due_at, now()),
    leased_until = now() + make_interval(secs => ${leaseSeconds}),
    claimed_at = now(),
    claimed_url = ${claimedUrl}
  FROM due
  JOIN events ON events.id = due.event_id
  JOIN workspaces ON workspaces.id = due.workspace_id
  WHERE deliveries.event_id = due.event_id
  RETURNING deliveries.event_id, deliveries.domain_id, due.webhook_id, deliveries.attempts, deliveries.spent,
    due.leased_until IS NOT NULL AS taken_over, ${columns}, ${secrets(sql, sql.literal("due"))}
`

/** Oldest first within each webhook. The query locks every row it reads, so it reads no more than there are slots. */
const due = (sql: SqlClient.SqlClient, leaseSeconds: number) =>
  SqlSchema.findAll({
    Request: Schema.Struct({
      webhooks: Schema.Array(WebhookId),
      places: Schema.Array(Schema.Int),
      mostBytes: Schema.Int
    }),
    Result: SealedDelivery,
    execute: ({ mostBytes, places, webhooks }) =>
      lease(
        sql,
        leaseSeconds,
        sql`
          found AS (
            SELECT next.*, webhooks.id AS webhook_id, ${ofWebhook(sql)}, domains.workspace_id
            FROM unnest(${webhooks}::uuid[], ${places}::int[]) AS room (webhook_id, places)
            JOIN webhooks ON webhooks.id = room.webhook_id AND ${isPushed(sql)}
            JOIN domains ON domains.id = webhooks.domain_id AND domains.status <> 'disabled'
            CROSS JOIN LATERAL (
              SELECT event_id, attempts, due_at, leased_until, claimed_at, claimed_url FROM deliveries
              WHERE ${DeliveryRows.ofDelivery(sql)} = room.webhook_id AND ${DeliveryRows.isFree(sql)} AND due_at <= now()
              ORDER BY due_at
              LIMIT room.places
              FOR UPDATE SKIP LOCKED
            ) AS next
          ), ${within(sql, mostBytes)}
        `
      )
  })

/** Of one webhook that clients lease, or of all of a domain. Workers skip them, because they have no URL. */
const pulled = (sql: SqlClient.SqlClient, leaseSeconds: number) =>
  SqlSchema.findAll({
    Request: Schema.Struct({
      webhooks: Schema.Array(WebhookId),
      most: Schema.Int,
      mostBytes: Schema.Int,
      bytesAtOnce: Schema.Int,
      only: Schema.NullOr(Schema.String)
    }),
    Result: SealedPull,
    execute: ({ bytesAtOnce, most, mostBytes, only, webhooks }) =>
      lease(
        sql,
        leaseSeconds,
        sql`
          found AS (
            SELECT next.*, webhooks.id AS webhook_id, ${ofWebhook(sql)}, domains.workspace_id
            FROM unnest(${webhooks}::uuid[]) AS asked (webhook_id)
            JOIN webhooks ON webhooks.id = asked.webhook_id AND webhooks.action = 'pull'
            JOIN domains ON domains.id = webhooks.domain_id AND domains.status <> 'disabled'
            CROSS JOIN LATERAL (
              SELECT event_id, attempts, due_at, leased_until, claimed_at, claimed_url FROM deliveries
              WHERE ${DeliveryRows.ofDelivery(sql)} = asked.webhook_id AND ${DeliveryRows.isFree(sql)} AND due_at <= now()
                ${only === null ? sql`` : sql`AND event_id = ANY(${SeenDeliveries.due(sql, only, most)})`}
              ORDER BY due_at
              LIMIT ${most}
              FOR UPDATE SKIP LOCKED
            ) AS next
            ORDER BY next.due_at LIMIT ${most}
          ), ${within(sql, mostBytes)}
        `,
        {
          claimedUrl: sql`'${sql.literal(pull)}'`,
          columns: sql`
            deliveries.claimed_url AS url, due.format, due.credentials, deliveries.leased_until,
            octet_length(events.payload) AS bytes, due.bytes_before::int AS bytes_before,
            CASE WHEN due.bytes_before + octet_length(events.payload) <= ${bytesAtOnce} THEN events.payload END AS payload
          `
        }
      )
  })

/** Releases leased deliveries whose requests did not finish. */
const giveBack = (sql: SqlClient.SqlClient) => (leases: ReadonlyArray<Lease>) => {
  const column = Columns.of(leases)
  return leases.length === 0
    ? Effect.void
    : Effect.asVoid(sql`
        UPDATE deliveries SET leased_until = NULL, attempts = attempts - 1
        FROM unnest(
          ${column("uuid", ({ eventId }) => eventId)}, ${column("int4", ({ attempt }) => attempt)}
        ) AS lease (event_id, attempt)
        WHERE deliveries.event_id = lease.event_id AND attempts = lease.attempt AND status = ${"pending"}
      `)
}

const hasFree = (sql: SqlClient.SqlClient) =>
  sql`SELECT true FROM deliveries WHERE ${DeliveryRows.ofDelivery(sql)} = webhooks.id AND ${DeliveryRows.isFree(sql)} LIMIT 1`

/** The oldest delivery of each webhook. A failed one moves to the end. */
const probes = (sql: SqlClient.SqlClient, leaseSeconds: number) =>
  SqlSchema.findAll({
    Request: Schema.Int,
    Result: SealedDelivery,
    execute: (most) =>
      lease(
        sql,
        leaseSeconds,
        sql`
          probed AS (
            ${WebhookState.takeProbes(sql, most, hasFree(sql))}
          ), due AS (
            SELECT next.*, webhooks.id AS webhook_id, ${ofWebhook(sql)}, webhooks.workspace_id
            FROM probed AS webhooks
            CROSS JOIN LATERAL (
              SELECT event_id, attempts, leased_until, claimed_at, claimed_url FROM deliveries
              WHERE ${DeliveryRows.ofDelivery(sql)} = webhooks.id AND ${DeliveryRows.isFree(sql)}
              ORDER BY due_at
              LIMIT 1
              FOR UPDATE SKIP LOCKED
            ) AS next
          )
        `
      )
  })

const oldestDueSeconds = (sql: SqlClient.SqlClient) =>
  sql<{ readonly toPost: number | null; readonly toTake: number | null }>`
  WITH RECURSIVE ${waiting(sql, sql`${isPushed(sql)} OR webhooks.action = 'pull'`)}
  SELECT
    extract(epoch FROM now() - min(due_at) FILTER (WHERE action <> 'pull'))::float8 AS to_post,
    extract(epoch FROM now() - min(due_at) FILTER (WHERE action = 'pull'))::float8 AS to_take
  FROM ready
`.pipe(Effect.map(([row]) => ({ toPost: row?.toPost ?? 0, toTake: row?.toTake ?? 0 })))

/** Maximum deliveries of all webhooks that one statement holds. */
const mostHeldOfAll = 8 * DeliveryRows.mostHeld

/**
 * Holds deliveries that the change of their webhook left: more than one statement may hold, or inserted after it. Returns
 * their number. The lock waits for a concurrent change of the webhook.
 */
const holdUnserved = (sql: SqlClient.SqlClient) =>
  sql<{ readonly held: number }>`
  WITH RECURSIVE ${pendingWebhooks(sql)}, unserved AS (
    SELECT waiting.webhook_id FROM waiting LEFT JOIN webhooks ON webhooks.id = waiting.webhook_id
    WHERE waiting.webhook_id IS NOT NULL AND coalesce(action, 'hold') IN ('hold', 'reject')
  ), locked AS (
    SELECT id, action FROM webhooks WHERE id IN (SELECT webhook_id FROM unserved) FOR SHARE
  ), found AS (
    SELECT next.event_id
    FROM (
      SELECT webhook_id FROM unserved EXCEPT SELECT id FROM locked WHERE action IN ('webhook', 'pull')
    ) AS holding
    CROSS JOIN LATERAL (
      SELECT event_id FROM deliveries
      WHERE ${DeliveryRows.ofDelivery(sql)} = holding.webhook_id AND ${DeliveryRows.isFree(sql)}
      ORDER BY due_at
      LIMIT ${DeliveryRows.mostHeld}
      FOR UPDATE SKIP LOCKED
    ) AS next
    LIMIT ${mostHeldOfAll}
  ), held AS (
    UPDATE deliveries SET status = 'held', leased_until = NULL
    FROM found WHERE deliveries.event_id = found.event_id
    RETURNING 1
  )
  SELECT count(*)::int AS held FROM held
`.pipe(Effect.map(([row]) => row?.held ?? 0))

/** The webhook whose oldest delivery has waited longest comes first. */
const waitingWebhooks = (sql: SqlClient.SqlClient) => sql<{
  readonly webhookId: WebhookId
  readonly workspaceId: WorkspaceId
}>`
  WITH RECURSIVE ${waiting(sql, isPushed(sql))}
  SELECT id AS webhook_id, workspace_id FROM ready ORDER BY due_at LIMIT ${mostWebhooks}
`

/** The statements that lease deliveries. Due times and leases go by the database's clock. */
export const make = (sql: SqlClient.SqlClient, leaseSeconds: number) => ({
  waitingWebhooks: waitingWebhooks(sql),
  due: due(sql, leaseSeconds),
  probes: probes(sql, leaseSeconds),
  pulled: pulled(sql, leaseSeconds),
  giveBack: giveBack(sql),
  holdUnserved: holdUnserved(sql),
  oldestDueSeconds: oldestDueSeconds(sql)
})
