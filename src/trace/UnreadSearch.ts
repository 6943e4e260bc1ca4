import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import * as RecipientPattern from "../database/RecipientPattern.ts"
import type { DomainId } from "../model/Domain.ts"

/** The address, or an address of the domain. */
export const isFrom = (sql: SqlClient.SqlClient) => (column: Fragment, from: string) =>
  from.includes("@")
    ? sql`lower(${column}) = lower(${from})`
    : sql`lower(substring(${column} FROM '[^@]*$')) = lower(${from})`

/** Stored messages without events, the newest of each domain. Their subject and Message-ID are not known yet. */
export const walk = (
  sql: SqlClient.SqlClient,
  domainIds: ReadonlyArray<DomainId>,
  { most, times }: { readonly most: number; readonly times: ReadonlyArray<Fragment> }
): Fragment => sql`
  SELECT scope.id AS domain_id, mail.* FROM unnest(${domainIds}::uuid[]) AS scope (id)
  CROSS JOIN LATERAL (
    SELECT id, received_at, mail_from, recipients FROM inbound_emails
    WHERE ${sql.and([sql`domain_id = scope.id`, sql`state = 'received'`, ...times])}
    ORDER BY received_at DESC LIMIT ${sql.literal(`${most}`)}
  ) AS mail
`

interface Wanted {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly only?: string | undefined
}

/** Whether such a message is wanted. */
export const matching = (sql: SqlClient.SqlClient, { from, only, to }: Wanted): Fragment => {
  const some = (condition: Fragment) => sql`EXISTS (SELECT 1 FROM unnest(recipients) AS recipient WHERE ${condition})`
  return sql.and([
    sql`true`,
    ...(from === undefined ? [] : [isFrom(sql)(sql`mail_from`, from)]),
    ...(to === undefined ? [] : [some(sql`lower(recipient) = lower(${to})`)]),
    ...(only === undefined ? [] : [some(RecipientPattern.takes(sql, only, sql`recipient`))])
  ])
}
