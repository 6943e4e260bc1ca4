import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import * as RecipientPattern from "../database/RecipientPattern.ts"
import type { DomainId } from "../model/Domain.ts"

/** The address, or an address of the domain. */
export const isFrom = (sql: SqlClient.SqlClient) => (column: Fragment, from: string) =>
  from.includes("@")
    ? sql`lower(${column}) = lower(${from})`
    : sql`lower(substring(${column} FROM '[^@]*$')) = lower(${from})`

interface Search {
  readonly domainIds: ReadonlyArray<DomainId>
  readonly wanted: {
    readonly from?: string | undefined
    readonly to?: string | undefined
    readonly only?: string | undefined
  }
  readonly times: ReadonlyArray<Fragment>
  /** Of each domain. */
  readonly most: number
}

/** Stored messages without events, newest first. Their subject and Message-ID are not known yet. */
export const make =
  (sql: SqlClient.SqlClient) =>
  ({ domainIds, most, times, wanted: { from, only, to } }: Search): Fragment => {
    const some = (condition: Fragment) => sql`EXISTS (SELECT 1 FROM unnest(recipients) AS recipient WHERE ${condition})`
    return sql`
      SELECT mail.id, mail.received_at FROM unnest(${domainIds}::uuid[]) AS scope (id)
      CROSS JOIN LATERAL (
        SELECT id, received_at, mail_from, recipients FROM inbound_emails
        WHERE ${sql.and([sql`domain_id = scope.id`, sql`state = 'received'`, ...times])}
        ORDER BY received_at DESC LIMIT ${sql.literal(`${most}`)}
      ) AS mail
      WHERE ${sql.and([
        sql`true`,
        ...(from === undefined ? [] : [isFrom(sql)(sql`mail_from`, from)]),
        ...(to === undefined ? [] : [some(sql`lower(recipient) = lower(${to})`)]),
        ...(only === undefined ? [] : [some(RecipientPattern.takes(sql, only, sql`recipient`))])
      ])}
    `
  }
