import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Batch from "../Batch.ts"
import { isUnreachable } from "../Database.ts"
import type { DomainId } from "../model/Domain.ts"
import type { Envelope, InboundEmailId } from "../model/InboundEmail.ts"
import * as Patience from "../Patience.ts"

/** A stored message for one recipient. */
export interface Accepted {
  readonly id: InboundEmailId
  readonly domainId: DomainId
  readonly recipient: string
  /** Recognises a retry; null for a message that is never taken for one. */
  readonly key: Uint8Array | null
  readonly sha256: Uint8Array
  readonly receivedAt: DateTime.Utc
  readonly envelope: Envelope
  /** Whether this process reads it at once, and so leases it. */
  readonly handOver: boolean
}

/** `kept`, `seen` before, the domain is `gone`, or it takes a transaction of its own to tell: `apart`. */
export type Acceptance = "kept" | "seen" | "gone" | "apart"

/** How long a retry of the same message is recognised. */
export const retryDays = 7

/** How long the process that accepted a message has for reading it. */
export const leaseSeconds = 60

/**
 * Writes the rows of messages with one recipient, many in one statement and so
 * one commit. A quota that only some of them still fit in fails the statement:
 * each is then tried alone.
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
    const column = Batch.columnsOf(accepted)
    return sql<{ readonly ordinal: bigint; readonly state: Acceptance }>`
      WITH input AS (
        SELECT * FROM unnest(
          ${column("uuid", ({ id }) => id)},
          ${column("uuid", ({ domainId }) => domainId)},
          ${column("text", ({ recipient }) => recipient)},
          ${column("bytea", ({ key }) => key)},
          ${column("bytea", ({ sha256 }) => sha256)},
          ${column("timestamptz", ({ receivedAt }) => DateTime.toDateUtc(receivedAt))},
          ${column("text", ({ envelope }) => envelope.from)},
          ${column("text", ({ envelope }) => envelope.helo)},
          ${column("text", ({ envelope }) => envelope.remoteAddress)},
          ${column("bool", ({ handOver }) => handOver)}
        ) WITH ORDINALITY AS input (
          id, domain_id, recipient, key, sha256, received_at, mail_from, helo, remote_address, hand_over, ordinal
        )
      ), welcome AS (
        SELECT input.*, domains.workspace_id FROM input JOIN domains ON domains.id = input.domain_id
        WHERE domains.status IN ('mx_pending', 'verified', 'live')
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
      , inserted AS (
        INSERT INTO inbound_emails (
          id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients,
          state, read_attempts, leased_until
        )
        SELECT id, domain_id, received_at, sha256, mail_from, helo, remote_address, ARRAY[recipient],
          'received', hand_over::int, CASE WHEN hand_over THEN now() + make_interval(secs => ${leaseSeconds}) END
        FROM fresh ${emailsPerDay > 0 ? sql.literal("JOIN counted USING (workspace_id)") : sql.literal("")}
        RETURNING id
      )
      SELECT input.ordinal, CASE
        WHEN inserted.id IS NOT NULL THEN 'kept' WHEN welcome.id IS NULL THEN 'gone'
        WHEN fresh.id IS NOT NULL THEN 'apart' ELSE 'seen'
      END AS state
      FROM input LEFT JOIN welcome USING (ordinal) LEFT JOIN fresh USING (ordinal)
      LEFT JOIN inserted ON inserted.id = input.id
    `
  }

  return yield* Batch.make(
    (accepted: ReadonlyArray<Accepted>) =>
      Effect.map(Patience.ofRequest(insert(accepted)), (rows) => {
        const states = new Map(rows.map(({ ordinal, state }) => [Number(ordinal), state]))
        return accepted.map((_, index): Acceptance => states.get(index + 1) ?? "gone")
      }),
    { lanes: 2, most: 64, mostBytes: 4 * 1024 * 1024, isOutage: isUnreachable, bytesOf: () => 1_024 }
  )
})
