import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Batch from "../database/Batch.ts"
import { isUnreachable } from "../database/Database.ts"
import * as Patience from "../database/Patience.ts"
import { EventFeed } from "../delivery/EventFeed.ts"
import { Handover } from "../delivery/Handover.ts"
import type { DomainId } from "../model/Domain.ts"
import type { Envelope, InboundEmailId } from "../model/InboundEmail.ts"
import type * as Place from "../providers/storage/Place.ts"
import * as EventWriter from "../reading/EventWriter.ts"

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
  /** Where its bytes are in the log. */
  readonly place: Place.Place | null
  /** Whether this process reads it, and so leases it until it has. */
  readonly isOurs: boolean
  /** What has been read of it already: its events are written with it. */
  readonly read: EventWriter.ReadMessage | undefined
}

/** `kept`, `seen` before, the domain is `gone`, or it takes a transaction of its own to tell: `apart`. */
export type Acceptance = "kept" | "seen" | "gone" | "apart"

/** How long a retry of the same message is recognised. */
export const retryDays = 7

/** How long the process that accepted a message has for reading it. */
export const leaseSeconds = 60

interface Item extends Accepted {
  readonly places: number
}

interface Row extends EventWriter.WrittenEvent {
  readonly ordinal: bigint
  readonly state: Acceptance
}

/**
 * Writes the rows of messages with one recipient, many in one statement and so one
 * commit, and the events of those that have been read. A quota that only some of them
 * still fit in fails the statement: each is then tried alone.
 */
export const make = Effect.fnUntraced(function* (options: { readonly emailsPerDay: number }) {
  const sql = yield* SqlClient.SqlClient
  const feed = yield* EventFeed
  const handover = yield* Handover
  const eventsOf = yield* EventWriter.statement
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

  const insert = (accepted: ReadonlyArray<Item>) => {
    const column = Batch.columnsOf(accepted)
    const events = accepted.flatMap(({ id, places, read }) =>
      (read?.events ?? []).map((event, index) => ({ emailId: id, event, hasPlace: index < places }))
    )
    return sql<Row>`
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
          ${column("bool", ({ isOurs }) => isOurs)},
          ${column("bool", ({ read }) => read !== undefined)},
          ${column("text", ({ read }) => read?.authenticationResults ?? null)},
          ${column("uuid", ({ place }) => place?.segment ?? null)},
          ${column("int8", ({ place }) => (place === null ? null : BigInt(place.at)))},
          ${column("int4", ({ place }) => place?.bytes ?? null)}
        ) WITH ORDINALITY AS input (
          id, domain_id, recipient, key, sha256, received_at, mail_from, helo, remote_address, is_ours, is_read,
          authentication_results, segment, raw_at, raw_bytes, ordinal
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
      , kept AS (
        INSERT INTO inbound_emails (
          id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients,
          state, read_attempts, leased_until, authentication_results, segment, raw_at, raw_bytes
        )
        SELECT id, domain_id, received_at, sha256, mail_from, helo, remote_address, ARRAY[recipient],
          CASE WHEN is_read THEN 'read' ELSE 'received' END, is_ours::int,
          CASE WHEN is_ours AND NOT is_read THEN now() + make_interval(secs => ${leaseSeconds}) END,
          authentication_results, segment, raw_at, raw_bytes
        FROM fresh ${emailsPerDay > 0 ? sql.literal("JOIN counted USING (workspace_id)") : sql.literal("")}
        RETURNING id, domain_id, received_at, state
      ), read AS (
        SELECT id, domain_id, received_at FROM kept WHERE state = 'read'
      ), ${eventsOf(events)}
      SELECT input.ordinal, CASE
        WHEN kept.id IS NOT NULL THEN 'kept' WHEN welcome.id IS NULL THEN 'gone'
        WHEN fresh.id IS NOT NULL THEN 'apart' ELSE 'seen'
      END AS state, written.*
      FROM input LEFT JOIN welcome USING (ordinal) LEFT JOIN fresh USING (ordinal)
      LEFT JOIN kept ON kept.id = input.id
      LEFT JOIN written ON written.inbound_email_id = kept.id
    `
  }

  const write = yield* Batch.make(
    (accepted: ReadonlyArray<Item>) =>
      Effect.map(Patience.ofRequest(insert(accepted)), (rows) => {
        const own = new Map(rows.map((row) => [Number(row.ordinal), row]))
        return accepted.map((_, index) => own.get(index + 1))
      }),
    {
      lanes: 1,
      most: 64,
      mostBytes: 4 * 1024 * 1024,
      isOutage: isUnreachable,
      bytesOf: ({ read }) => (read?.events ?? []).reduce((bytes, { payload }) => bytes + payload.length, 1_024)
    }
  )

  return Effect.fnUntraced(function* (accepted: Accepted) {
    const events = accepted.read?.events ?? []
    const { row } = yield* handover.within(accepted.domainId, events.length, (places) =>
      Effect.map(write({ ...accepted, places }), (row) => ({
        row,
        leased: row === undefined || row.state !== "kept" ? [] : EventWriter.leased([row], events)
      }))
    )
    if (row?.state === "kept" && events.length > 0) {
      yield* feed.announce(accepted.domainId, { isDue: row.isDue })
    }
    const acceptance: Acceptance = row?.state ?? "gone"
    return acceptance
  })
})
