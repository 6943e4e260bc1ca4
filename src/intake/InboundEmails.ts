import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Batcher from "../database/Batcher.ts"
import * as Columns from "../database/Columns.ts"
import { isUnreachable } from "../database/Database.ts"
import * as Patience from "../database/Patience.ts"
import type { Envelope } from "../model/InboundEmail.ts"
import type { Mail } from "../reading/Mail.ts"
import * as LostAnswer from "./LostAnswer.ts"

/** A stored message for one recipient. */
export interface Accepted {
  readonly mail: Mail
  readonly recipient: string
  /** Log-safe text. */
  readonly envelope: Envelope
  /** Recognizes a retry. Null if the message is never treated as a retry. */
  readonly key: Uint8Array | null
  /** True if this process parses the message, and leases the row meanwhile. */
  readonly isOurs: boolean
}

/** `kept`: inserted. `seen`: a retry. `gone`: the domain was removed. `apart`: needs its own transaction. */
export type Acceptance = "kept" | "seen" | "gone" | "apart"

/** How long Inlet recognizes a retry of the same message. */
export const retryDays = 7

/** Duration of the lease of the process that accepted the message. */
export const leaseSeconds = 60

/** The columns of a row without its addresses. */
const rowBytes = 1_024

/**
 * Inserts the rows of single-recipient messages, many in one statement and commit. If only some fit into a quota, all
 * become `apart`.
 */
export const make = Effect.fnUntraced(function* (options: { readonly emailsPerDay: number }) {
  const sql = yield* SqlClient.SqlClient
  const { emailsPerDay } = options
  const today = sql.literal("(now() AT TIME ZONE 'UTC')::date")

  const counted = sql`
    , counted AS (
      INSERT INTO daily_intake AS counted (workspace_id, day, accepted)
      SELECT workspace_id, ${today}, count(*) FROM fresh GROUP BY workspace_id
      HAVING count(*) <= ${emailsPerDay} ORDER BY workspace_id
      ON CONFLICT (workspace_id, day) DO UPDATE SET accepted = counted.accepted + excluded.accepted
      WHERE counted.accepted + excluded.accepted <= ${emailsPerDay}
      RETURNING workspace_id
    )
  `

  const insert = (accepted: ReadonlyArray<Accepted>) => {
    const column = Columns.of(accepted)
    return sql<{ readonly ordinal: bigint; readonly state: Acceptance }>`
      WITH input AS (
        SELECT * FROM unnest(
          ${column("uuid", ({ mail }) => mail.id)},
          ${column("uuid", ({ mail }) => mail.domainId)},
          ${column("text", ({ recipient }) => recipient)},
          ${column("bytea", ({ key }) => key)},
          ${column("bytea", ({ mail }) => mail.sha256)},
          ${column("timestamptz", ({ mail }) => DateTime.toDateUtc(DateTime.makeUnsafe(mail.receivedAt)))},
          ${column("text", ({ envelope }) => envelope.from)},
          ${column("text", ({ envelope }) => envelope.helo)},
          ${column("text", ({ envelope }) => envelope.remoteAddress)},
          ${column("bool", ({ isOurs }) => isOurs)},
          ${column("uuid", ({ mail }) => mail.place?.segment ?? null)},
          ${column("int8", ({ mail }) => (mail.place === null ? null : BigInt(mail.place.at)))},
          ${column("int4", ({ mail }) => mail.place?.bytes ?? null)},
          ${column("int4", ({ mail }) => mail.traceBytes)}
        ) WITH ORDINALITY AS input (
          id, domain_id, recipient, key, sha256, received_at, mail_from, helo, remote_address, is_ours,
          segment, raw_at, raw_bytes, trace_bytes, ordinal
        )
      ), welcome AS (
        SELECT input.*, domains.workspace_id FROM input JOIN domains ON domains.id = input.domain_id
        WHERE domains.status IN ('mx_pending', 'verified', 'live')
        -- Until the commit it can't be removed.
        FOR KEY SHARE OF domains
      ), new_keys AS (
        INSERT INTO received_once AS before (key, inbound_email_id, received_at)
        SELECT key, id, now() FROM welcome WHERE key IS NOT NULL ORDER BY key
        ON CONFLICT (key) DO UPDATE SET inbound_email_id = excluded.inbound_email_id, received_at = now()
        WHERE before.received_at < now() - make_interval(days => ${retryDays})
        RETURNING inbound_email_id
      ), fresh AS (
        SELECT * FROM welcome WHERE key IS NULL OR id IN (SELECT inbound_email_id FROM new_keys)
      )
      ${emailsPerDay > 0 ? counted : sql.literal("")}
      , kept AS (
        INSERT INTO inbound_emails (
          id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients,
          state, read_attempts, leased_until, segment, raw_at, raw_bytes, trace_bytes
        )
        SELECT id, domain_id, received_at, sha256, mail_from, helo, remote_address, ARRAY[recipient],
          'received', is_ours::int, CASE WHEN is_ours THEN now() + make_interval(secs => ${leaseSeconds}) END,
          segment, raw_at, raw_bytes, trace_bytes
        FROM fresh ${emailsPerDay > 0 ? sql.literal("JOIN counted USING (workspace_id)") : sql.literal("")}
        RETURNING id
      )
      SELECT input.ordinal, CASE
        WHEN kept.id IS NOT NULL THEN 'kept' WHEN welcome.id IS NULL THEN 'gone'
        WHEN fresh.id IS NOT NULL THEN 'apart' ELSE 'seen'
      END AS state
      FROM input LEFT JOIN welcome USING (ordinal) LEFT JOIN fresh USING (ordinal)
      LEFT JOIN kept ON kept.id = input.id
    `
  }

  const find = yield* LostAnswer.make
  /** Checks whether a row was committed after its statement got no answer. */
  const isCommitted = yield* Batcher.make<Accepted, boolean, never>(
    (lost) =>
      Effect.map(find(lost.map(({ mail }) => mail.id)), (rows) => {
        const there = new Set(rows.map(({ id }) => id))
        return lost.map(({ mail }) => there.has(mail.id))
      }),
    { bytesOf: () => rowBytes, isOutage: () => true, lanes: 8 }
  )

  const insertMany = yield* Batcher.make(
    (accepted: ReadonlyArray<Accepted>) =>
      Effect.map(Patience.ofRequest(insert(accepted)), (rows) => {
        const states = accepted.map((): Acceptance => "gone")
        for (const { ordinal, state } of rows) states[Number(ordinal) - 1] = state
        return states
      }).pipe(
        Effect.withSpan("InboundEmails.insert", { attributes: { messages: accepted.length } }, Batcher.spanOptions)
      ),
    { bytesOf: () => rowBytes, isOutage: isUnreachable }
  )

  return (accepted: Accepted) =>
    Effect.catchIf(insertMany(accepted), isUnreachable, (error) =>
      Effect.flatMap(isCommitted(accepted), (isThere) =>
        isThere ? Effect.succeed<Acceptance>("kept") : Effect.fail(error)
      )
    )
})
