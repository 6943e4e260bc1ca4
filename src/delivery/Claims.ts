import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema, type Statement } from "effect/sql"
import * as Columns from "../database/Columns.ts"
import * as WebhookState from "../domains/webhook/WebhookState.ts"
import { DomainId } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import { type Lease, pull, SealedDelivery, SealedPull } from "./Lease.ts"

/** Maximum number of domains one query returns. */
const mostDomains = 10_000

/** Deliveries that nobody has leased. */
const isFree = (sql: SqlClient.SqlClient) => sql`status = 'pending' AND (leased_until IS NULL OR leased_until <= now())`

/** Domains whose webhook takes deliveries. */
const isPushed = (sql: SqlClient.SqlClient) =>
  sql`domains.webhook_url IS NOT NULL AND domains.webhook_paused_at IS NULL`

/** Walks the index domain by domain, so that it never scans one domain's backlog to find another's mail. */
const pendingDomains = (sql: SqlClient.SqlClient) => sql`
  waiting AS (
    (SELECT domain_id FROM deliveries WHERE status = 'pending' ORDER BY domain_id LIMIT 1)
    UNION ALL
    SELECT (
      SELECT deliveries.domain_id FROM deliveries
      WHERE status = 'pending' AND deliveries.domain_id > waiting.domain_id
      ORDER BY deliveries.domain_id LIMIT 1
    )
    FROM waiting WHERE waiting.domain_id IS NOT NULL
  )
`

const waiting = (sql: SqlClient.SqlClient, served: Statement.Fragment) => sql`
  ${pendingDomains(sql)}, ready AS (
    SELECT domains.id, domains.pull, domains.workspace_id, oldest.due_at
    FROM waiting
    CROSS JOIN LATERAL (
      SELECT * FROM domains WHERE domains.id = waiting.domain_id AND domains.status <> 'disabled' AND (${served}) LIMIT 1
    ) AS domains
    CROSS JOIN LATERAL (
      SELECT due_at FROM deliveries
      WHERE deliveries.domain_id = waiting.domain_id AND ${isFree(sql)} AND due_at <= now()
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

/** Leases the rows of `due`. Taking over an expired lease inserts a row that lists the unfinished attempt. */
const lease = (
  sql: SqlClient.SqlClient,
  leaseSeconds: number,
  due: Statement.Fragment,
  { columns, claimedUrl } = { claimedUrl: sql`NULL`, columns: sql`due.webhook_url AS url, events.payload` }
) => sql`
  WITH RECURSIVE ${due}, lost AS (
    INSERT INTO delivery_attempts (id, event_id, domain_id, attempt, url, requested_at, ok, error)
    SELECT gen_random_uuid(), due.event_id, events.domain_id, due.attempts,
      -- A lease of a webhook that was taken away in the same moment knows of none.
      coalesce(due.claimed_url, due.webhook_url, '${sql.literal(pull)}'),
      coalesce(due.claimed_at, due.leased_until - make_interval(secs => ${leaseSeconds})),
      false, CASE WHEN due.claimed_url = '${sql.literal(pull)}' THEN 'its outcome was not told in time'
        ELSE 'the worker stopped before it knew the answer' END
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
  RETURNING deliveries.event_id, deliveries.domain_id, deliveries.attempts, deliveries.spent,
    due.leased_until IS NOT NULL AS taken_over, ${columns},
    workspaces.id AS workspace_id, workspaces.signing_secret,
    CASE WHEN workspaces.previous_secret_until > now() THEN workspaces.previous_signing_secret END
      AS previous_signing_secret
`

/** Oldest first within each domain. The query locks every row it reads, so it reads no more than there are slots. */
const due = (sql: SqlClient.SqlClient, leaseSeconds: number) =>
  SqlSchema.findAll({
    Request: Schema.Struct({
      domains: Schema.Array(DomainId),
      places: Schema.Array(Schema.Int),
      mostBytes: Schema.Int
    }),
    Result: SealedDelivery,
    execute: ({ domains, mostBytes, places }) =>
      lease(
        sql,
        leaseSeconds,
        sql`
          found AS (
            SELECT next.*, domains.webhook_url, domains.workspace_id
            FROM unnest(${domains}::uuid[], ${places}::int[]) AS room (domain_id, places)
            JOIN domains ON domains.id = room.domain_id AND domains.status <> 'disabled' AND ${isPushed(sql)}
            CROSS JOIN LATERAL (
              SELECT event_id, attempts, due_at, leased_until, claimed_at, claimed_url FROM deliveries
              WHERE deliveries.domain_id = room.domain_id AND ${isFree(sql)} AND due_at <= now()
              ORDER BY due_at
              LIMIT room.places
              FOR UPDATE SKIP LOCKED
            ) AS next
          ), ${within(sql, mostBytes)}
        `
      )
  })

/** For domains with pull delivery. Workers skip them, because they have no webhook. */
const pulled = (sql: SqlClient.SqlClient, leaseSeconds: number) =>
  SqlSchema.findAll({
    Request: Schema.Struct({ domainId: DomainId, most: Schema.Int, mostBytes: Schema.Int, bytesAtOnce: Schema.Int }),
    Result: SealedPull,
    execute: ({ bytesAtOnce, domainId, most, mostBytes }) =>
      lease(
        sql,
        leaseSeconds,
        sql`
          found AS (
            SELECT next.*, domains.webhook_url, domains.workspace_id
            FROM domains
            CROSS JOIN LATERAL (
              SELECT event_id, attempts, due_at, leased_until, claimed_at, claimed_url FROM deliveries
              WHERE deliveries.domain_id = domains.id AND ${isFree(sql)} AND due_at <= now()
              ORDER BY due_at
              LIMIT ${most}
              FOR UPDATE SKIP LOCKED
            ) AS next
            WHERE domains.id = ${domainId} AND domains.pull AND domains.status <> 'disabled'
          ), ${within(sql, mostBytes)}
        `,
        {
          claimedUrl: sql`'${sql.literal(pull)}'`,
          columns: sql`
            deliveries.claimed_url AS url, deliveries.leased_until,
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
  sql`SELECT true FROM deliveries WHERE deliveries.domain_id = domains.id AND ${isFree(sql)} LIMIT 1`

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
            SELECT next.*, probed.webhook_url, probed.workspace_id
            FROM probed
            CROSS JOIN LATERAL (
              SELECT event_id, attempts, leased_until, claimed_at, claimed_url FROM deliveries
              WHERE deliveries.domain_id = probed.id AND ${isFree(sql)}
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
  WITH RECURSIVE ${waiting(sql, sql`${isPushed(sql)} OR domains.pull`)}
  SELECT
    extract(epoch FROM now() - min(due_at) FILTER (WHERE NOT pull))::float8 AS to_post,
    extract(epoch FROM now() - min(due_at) FILTER (WHERE pull))::float8 AS to_take
  FROM ready
`.pipe(Effect.map(([row]) => ({ toPost: row?.toPost ?? 0, toTake: row?.toTake ?? 0 })))

/**
 * Holds deliveries that were inserted after the statement that held those of the domain. The lock waits for a concurrent
 * change of the webhook.
 */
const holdUnserved = (sql: SqlClient.SqlClient) => sql`
  WITH RECURSIVE ${pendingDomains(sql)}, unserved AS (
    SELECT domains.id FROM waiting JOIN domains ON domains.id = waiting.domain_id
    WHERE domains.webhook_url IS NULL AND NOT domains.pull
    FOR SHARE OF domains
  )
  UPDATE deliveries SET status = 'held', leased_until = NULL
  WHERE domain_id IN (SELECT id FROM unserved) AND ${isFree(sql)}
`

/** The domain whose oldest delivery has waited longest comes first. */
const waitingDomains = (sql: SqlClient.SqlClient) => sql<{
  readonly domainId: DomainId
  readonly workspaceId: WorkspaceId
}>`
  WITH RECURSIVE ${waiting(sql, isPushed(sql))}
  SELECT id AS domain_id, workspace_id FROM ready ORDER BY due_at LIMIT ${mostDomains}
`

/** The statements that lease deliveries. Due times and leases go by the database's clock. */
export const make = (sql: SqlClient.SqlClient, leaseSeconds: number) => ({
  waitingDomains: waitingDomains(sql),
  due: due(sql, leaseSeconds),
  probes: probes(sql, leaseSeconds),
  pulled: pulled(sql, leaseSeconds),
  giveBack: giveBack(sql),
  holdUnserved: holdUnserved(sql),
  oldestDueSeconds: oldestDueSeconds(sql)
})
