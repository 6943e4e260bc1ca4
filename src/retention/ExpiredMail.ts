import { DateTime, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { DomainId, DomainName } from "../model/Domain.ts"
import { InboundEmailId } from "../model/InboundEmail.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import * as Ledger from "../operations/Ledger.ts"

/** Messages removed by one transaction: few, because mail waits for it at the embedded database's only session. */
export const batch = 100

const Expired = Schema.Struct({
  id: InboundEmailId,
  domainId: DomainId,
  /** Null for a domain that is removed, and without a workspace for a demo inbox. */
  domain: Schema.NullOr(DomainName),
  workspaceId: Schema.NullOr(WorkspaceId),
  hasPlace: Schema.Boolean,
  /** Not every recipient's webhook has accepted it. */
  isUndelivered: Schema.Boolean,
  /** Undelivered, and not because it was held. */
  isLost: Schema.Boolean
})
export type Expired = typeof Expired.Type

/**
 * Removes some expired messages with their events, and records an operational event for each domain that lost
 * undelivered mail. Both in one transaction, so that no loss is unreported.
 */
export const make = Effect.fnUntraced(function* (retentionDays: number) {
  const sql = yield* SqlClient.SqlClient
  const record = yield* Ledger.make

  const remove = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Expired,
    // The query sees the deliveries before their removal, which follows in the same statement.
    // The ids are an array, because a join could be planned as a scan of the whole table.
    execute: () => sql`
      WITH removed AS (
        DELETE FROM inbound_emails WHERE id = ANY(ARRAY(
          SELECT id FROM inbound_emails
          WHERE received_at < now() - make_interval(days => ${retentionDays})
          ORDER BY received_at LIMIT ${batch}
          FOR UPDATE SKIP LOCKED
        ))
        RETURNING id, domain_id, state, segment
      )
      SELECT removed.id, removed.domain_id, domains.name AS domain, workspace_id, segment IS NOT NULL AS has_place,
        state = 'received' OR coalesce(is_undelivered, false) AS is_undelivered,
        state = 'received' OR coalesce(is_lost, false) AS is_lost
      FROM removed
      LEFT JOIN domains ON domains.id = removed.domain_id
      CROSS JOIN LATERAL (
        -- By their keys, however many others are pending.
        SELECT bool_or(deliveries.status <> 'delivered') AS is_undelivered,
          bool_or(deliveries.status IN ('pending', 'dead')) AS is_lost
        FROM events JOIN deliveries ON deliveries.event_id = events.id
        WHERE events.inbound_email_id = removed.id
      ) AS outcome
    `
  })

  const report = Effect.fnUntraced(function* (lost: ReadonlyArray<Expired>) {
    const [first] = lost
    if (first === undefined || first.domain === null || first.workspaceId === null) return
    const { domain, domainId, workspaceId } = first
    yield* record({
      workspaceId,
      domainId,
      details: {
        type: "mail.expired",
        occurred_at: yield* DateTime.now,
        domain_id: domainId,
        domain,
        messages: lost.length,
        retention_days: retentionDays,
        message: `${countOf(lost.length)} of ${domain} expired after ${retentionDays === 1 ? "1 day" : `${retentionDays} days`} and ${lost.length === 1 ? "is" : "are"} removed, although no webhook or lease had taken ${lost.length === 1 ? "it" : "them"}. Further mail follows as it expires. Repair the webhook, then replay what is left: POST /api/domains/${domainId}/replays {"status": "dead"}`
      }
    })
  })

  return sql.withTransaction(
    Effect.gen(function* () {
      const removed = yield* remove()
      // In one order, because each locks the operational webhook of its workspace.
      const domains = [
        ...Map.groupBy(
          removed.filter(({ isLost }) => isLost),
          ({ domainId }) => domainId
        )
      ].toSorted(([, [one]], [, [other]]) => `${one?.workspaceId}`.localeCompare(`${other?.workspaceId}`))
      for (const [, lost] of domains) yield* report(lost)
      return removed
    })
  )
})

const countOf = (messages: number) =>
  messages >= batch ? `${batch} messages or more` : messages === 1 ? "1 message" : `${messages} messages`
