import { DateTime, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Columns from "../database/Columns.ts"
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
 * Removes some expired messages with their events, and records the first loss of undelivered mail of each domain on a
 * UTC day as an operational event. Both in one transaction, so that no domain's loss goes unreported.
 */
export const make = Effect.fnUntraced(function* (retentionDays: number) {
  const sql = yield* SqlClient.SqlClient
  const record = yield* Ledger.makeAll
  /** Domains whose loss of this day is recorded already. */
  const told = new Set<DomainId>()
  let toldOn: DateTime.Utc | undefined

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
            -- Unread mail becomes an event first. If a day or more lies between, the clock of its mail server was
            -- wrong, or the mail had to wait. It has its days from its reading.
            AND state = ${"read"} AND NOT EXISTS (
              SELECT 1 FROM events
              WHERE inbound_email_id = inbound_emails.id AND read_at > now() - make_interval(days => ${retentionDays})
                AND read_at > inbound_emails.received_at + interval '1 day'
            )
          ORDER BY received_at LIMIT ${batch}
          FOR UPDATE SKIP LOCKED
        ))
        RETURNING id, domain_id, segment
      )
      SELECT removed.id, removed.domain_id, domains.name AS domain, workspace_id, segment IS NOT NULL AS has_place,
        coalesce(is_undelivered, false) AS is_undelivered, coalesce(is_lost, false) AS is_lost
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

  /** Keeps the rows of these domains to the commit, and leaves out those that are removed. */
  const present = (ids: ReadonlyArray<DomainId>) =>
    SqlSchema.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: DomainId }),
      execute: () =>
        sql`SELECT id FROM domains WHERE id = ANY(${Columns.of(ids)("uuid", (id) => id)}) ORDER BY id FOR KEY SHARE`
    })()

  /** Records the losses of domains without one today, in the order of their ids. Succeeds with the domains. */
  const report = Effect.fnUntraced(function* (lost: ReadonlyArray<Expired>, isFull: boolean) {
    const now = yield* DateTime.now
    const period = DateTime.startOf(now, "day")
    if (toldOn === undefined || !DateTime.Equivalence(toldOn, period)) told.clear()
    toldOn = period
    const byDomain = Map.groupBy(lost, ({ domainId }) => domainId)
    const ids = [...byDomain.keys()].filter((id) => !told.has(id))
    if (ids.length === 0) return ids
    const drafts = (yield* present(ids)).flatMap(({ id: domainId }): ReadonlyArray<Ledger.Draft> => {
      const own = byDomain.get(domainId) ?? []
      const [first] = own
      if (first === undefined || first.domain === null || first.workspaceId === null) return []
      const { domain, workspaceId } = first
      const details = {
        type: "mail.expired",
        occurred_at: now,
        domain_id: domainId,
        domain,
        messages: own.length,
        retention_days: retentionDays,
        message: inWords({ domain, domainId, messages: own.length, isFull, retentionDays })
      } as const
      return [{ workspaceId, domainId, period, details }]
    })
    if (drafts.length > 0) yield* record(drafts)
    return ids
  })

  return sql
    .withTransaction(
      Effect.gen(function* () {
        const removed = yield* remove()
        const lost = removed.filter(({ isLost }) => isLost)
        return { removed, reported: yield* report(lost, removed.length >= batch) }
      })
    )
    .pipe(
      Effect.map(({ removed, reported }) => {
        for (const id of reported) told.add(id)
        return removed
      })
    )
})

const inWords = ({
  domain,
  domainId,
  isFull,
  messages,
  retentionDays
}: {
  readonly domain: DomainName
  readonly domainId: DomainId
  readonly messages: number
  /** There may be more in the next transaction. */
  readonly isFull: boolean
  readonly retentionDays: number
}) => {
  const count = isFull ? `${messages} or more messages` : messages === 1 ? "1 message" : `${messages} messages`
  const [are, them] = !isFull && messages === 1 ? ["is", "it"] : ["are", "them"]
  const days = retentionDays === 1 ? "1 day" : `${retentionDays} days`
  return (
    `${count} of ${domain} expired after ${days} and ${are} removed, although not every recipient's webhook or lease had taken ${them}. ` +
    "More may expire today without another event. See why with GET " +
    `/api/domains/${domainId}/health, then replay what is left: POST /api/domains/${domainId}/replays {"status": "dead"}`
  )
}
