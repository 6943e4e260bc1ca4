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
  /** Printable. */
  readonly envelope: Envelope
  /** Recognises a retry; null for a message that is never taken for one. */
  readonly key: Uint8Array | null
  /** Whether this process reads it, and so leases it until it has. */
  readonly isOurs: boolean
}

/** `kept`, `seen` before, the domain is `gone`, or it takes a transaction of its own to tell: `apart`. */
export type Acceptance = "kept" | "seen" | "gone" | "apart"

/** How long a retry of the same message is recognised. */
export const retryDays = 7

/** How long the process that accepted a message has for reading it. */
export const leaseSeconds = 60

/** Of a row, but for its addresses. */
const rowBytes = 1_024

/**
 * Writes the rows of messages with one recipient, many in one statement and so one
 * commit. A quota that only some of them still fit in makes them `apart`.
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
  /** Whether the row of a message is committed, although its statement had no answer. */
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
