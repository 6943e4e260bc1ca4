import { DateTime } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Columns from "../database/Columns.ts"
import * as TakingMail from "../domains/state/TakingMail.ts"
import type { DomainId } from "../model/Domain.ts"
import type { Envelope, InboundEmailId } from "../model/InboundEmail.ts"
import type * as Place from "../providers/storage/Place.ts"

// The insert of messages, for one recipient each (`InboundEmails`) and for several (`InboundTransaction`).

/** A message to insert, for one domain. */
export interface InboundRow {
  readonly id: InboundEmailId
  readonly domainId: DomainId
  /** One address, or a JSON array of addresses. Printable. */
  readonly recipients: string
  /** Recognizes a retry. Null if the message is never treated as a retry. */
  readonly key: Uint8Array | null
  readonly sha256: Uint8Array
  /** Milliseconds since 1970. */
  readonly receivedAt: number
  /** Printable. */
  readonly envelope: Envelope
  /** The TLS version, or null. */
  readonly tls: string | null
  /** True if this process parses the message, and leases the row meanwhile. */
  readonly isOurs: boolean
  readonly place: Place.Place | null
  readonly traceBytes: number
  /** The header field with the verdicts of a simulated message. */
  readonly authenticationResults: string | null
}

/** How long Inlet recognizes a retry of the same message. */
export const retryDays = 7

/** Duration of the lease of the process that accepted the message. */
const leaseSeconds = 60

/** The CTEs `input`, with the rows in order, and `welcome`, with those whose domain takes mail. Locks these domains. */
export const welcome = (sql: SqlClient.SqlClient, rows: ReadonlyArray<InboundRow>) => {
  const column = Columns.of(rows)
  return sql`
    input AS (
      SELECT * FROM unnest(
        ${column("uuid", ({ id }) => id)},
        ${column("uuid", ({ domainId }) => domainId)},
        ${column("text", ({ recipients }) => recipients)},
        ${column("bytea", ({ key }) => key)},
        ${column("bytea", ({ sha256 }) => sha256)},
        ${column("timestamptz", ({ receivedAt }) => DateTime.toDateUtc(DateTime.makeUnsafe(receivedAt)))},
        ${column("text", ({ envelope }) => envelope.from)},
        ${column("text", ({ envelope }) => envelope.helo)},
        ${column("text", ({ envelope }) => envelope.remoteAddress)},
        ${column("text", ({ tls }) => tls)},
        ${column("bool", ({ isOurs }) => isOurs)},
        ${column("uuid", ({ place }) => place?.segment ?? null)},
        ${column("int8", ({ place }) => (place === null ? null : BigInt(place.at)))},
        ${column("int4", ({ place }) => place?.bytes ?? null)},
        ${column("int4", ({ traceBytes }) => traceBytes)},
        ${column("text", ({ authenticationResults }) => authenticationResults)},
        ${column("bool", ({ envelope }) => envelope.relayed === true)}
      ) WITH ORDINALITY AS input (
        id, domain_id, recipients, key, sha256, received_at, mail_from, helo, remote_address, tls, is_ours,
        segment, raw_at, raw_bytes, trace_bytes, authentication_results, relayed, ordinal
      )
    ), welcome AS (
      SELECT input.*, domains.workspace_id FROM input JOIN domains ON domains.id = input.domain_id
      WHERE ${TakingMail.condition(sql)}
      -- Until the commit it can't be removed.
      FOR KEY SHARE OF domains
    )
  `
}

/** Inserts rows of `source`, a CTE with the columns of `welcome`. `recipients` makes the array of addresses. */
export const insert = (
  sql: SqlClient.SqlClient,
  { recipients, source }: { readonly recipients: Statement.Fragment; readonly source: Statement.Fragment }
) => sql`
  INSERT INTO inbound_emails (
    id, domain_id, received_at, sha256, mail_from, helo, remote_address, tls, recipients,
    state, read_attempts, leased_until, segment, raw_at, raw_bytes, trace_bytes, authentication_results, relayed
  )
  SELECT id, domain_id, received_at, sha256, mail_from, helo, remote_address, tls, ${recipients},
    'received', is_ours::int, CASE WHEN is_ours THEN now() + make_interval(secs => ${leaseSeconds}) END,
    segment, raw_at, raw_bytes, trace_bytes, authentication_results, relayed
  FROM ${source}
  RETURNING id
`
