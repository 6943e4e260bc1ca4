import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as RecipientPattern from "../database/RecipientPattern.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import * as DeliveryRows from "./DeliveryRows.ts"

// The deliveries that a key with a limit may lease and settle.

/** Due deliveries of a webhook that a lease with a limited key examines. */
const mostExamined = 1_000

/** The longest due deliveries of a webhook to local parts that a pattern takes, among a limited number. */
export const due = (sql: SqlClient.SqlClient, only: string, most: number) => sql`ARRAY(
  SELECT oldest.event_id FROM (
    SELECT event_id, due_at FROM deliveries
    WHERE ${DeliveryRows.ofDelivery(sql)} = asked.webhook_id AND ${DeliveryRows.isFree(sql)} AND due_at <= now()
    ORDER BY due_at LIMIT ${mostExamined}
  ) AS oldest
  JOIN events ON events.id = oldest.event_id
  WHERE ${RecipientPattern.takes(sql, only, sql`events.recipient`)}
  ORDER BY oldest.due_at LIMIT ${most}
)`

/** The reports about deliveries to local parts that the pattern takes. The others are ignored, as those without a lease. */
export const among = Effect.fnUntraced(function* <R extends { readonly eventId: EventId }>(
  sql: SqlClient.SqlClient,
  domainId: DomainId,
  reports: ReadonlyArray<R>,
  only: string
) {
  const rows = yield* sql<{ readonly id: EventId }>`
    SELECT id FROM events
    WHERE domain_id = ${domainId} AND id = ANY(${reports.map(({ eventId }) => eventId)}::uuid[])
      AND ${RecipientPattern.takes(sql, only, sql`recipient`)}
  `
  const ids = new Set(rows.map(({ id }) => id))
  return reports.filter(({ eventId }) => ids.has(eventId))
})
