import { DateTime } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import * as RecipientPattern from "../database/RecipientPattern.ts"
import type { RefusalReason } from "../model/Refusal.ts"
import * as Uuid7 from "../model/Uuid7.ts"
import { catchAll } from "../model/Webhook.ts"

/** The filters of a list. Addresses are compared without case. */
export interface Filter {
  readonly reason?: RefusalReason | undefined
  readonly from?: string | undefined
  readonly recipient?: string | undefined
  /** Last refused at this time or later. */
  readonly since?: DateTime.Utc | undefined
  /** First refused at this time or earlier. */
  readonly until?: DateTime.Utc | undefined
  /** Only those of recipients whose local part this pattern takes, for a key with a limit. */
  readonly only?: string | undefined
}

/** The conditions of a list of refusals. */
export const make = (sql: SqlClient.SqlClient) => {
  /** Reads `domains`, too: before a domain is verified, patterns would tell its local parts letter by letter. */
  const isSeen = (only: string | undefined) =>
    only === undefined
      ? []
      : [
          RecipientPattern.takes(sql, only, sql`refusals.recipient`),
          ...(only === catchAll ? [] : [sql`domains.verified_at IS NOT NULL`])
        ]

  const conditions = ({ from, reason, recipient, since, until }: Filter): Array<Fragment> => [
    // One of the fixed words, written out, because plans differ between frequent and rare ones.
    ...(reason === undefined ? [] : [sql.literal(`refusals.reason = '${reason}'`)]),
    ...(from === undefined ? [] : [sql`lower(envelope_from) = lower(${from})`]),
    ...(recipient === undefined ? [] : [sql`lower(recipient) = lower(${recipient})`]),
    // An id has the time of the first of equal ones. The last one came within an hour.
    ...(since === undefined
      ? []
      : [
          sql`refusals.id >= ${firstIdAt(DateTime.subtract(since, { hours: 1 }))}`,
          sql`last_at >= ${DateTime.toDateUtc(since)}`
        ]),
    ...(until === undefined ? [] : [sql`refusals.id < ${firstIdAt(DateTime.add(until, { milliseconds: 1 }))}`])
  ]

  return { conditions, isSeen }
}

const firstIdAt = (time: DateTime.Utc) => Uuid7.lowestAt(DateTime.toEpochMillis(time))
