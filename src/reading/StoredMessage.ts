import { createHash } from "node:crypto"
import { Effect, Metric } from "effect"
import type { SqlClient } from "effect/sql"
import { Damaged } from "../model/ApiError.ts"
import type { DomainId } from "../model/Domain.ts"
import { type InboundEmailId, rawRef } from "../model/InboundEmail.ts"
import type { EventId } from "../model/InboundEvent.ts"
import * as Place from "../providers/storage/Place.ts"
import type { RawStore } from "../providers/storage/RawStore.ts"
import { RawDamaged } from "../providers/storage/RawStoreError.ts"

const damaged = Metric.counter("inlet_raw_damaged_total", {
  description: "Raw messages that were read and have other bytes than were kept",
  incremental: true
})

/** Makes the series of damaged messages. Prometheus counts no increase in the first value of a series. */
export const beginCount = Metric.update(damaged, 0)

/** The row's data about a message's bytes. */
export interface Kept {
  readonly id: InboundEmailId
  readonly domainId: DomainId
  /** Computed over the bytes as received. */
  readonly sha256: Uint8Array
  /** The length of our trace fields in front of them. */
  readonly traceBytes: number
  readonly place: Place.Place | null
}

/** Finds the message of an event, and the field about its sender. Undefined without this event. */
export const find = (sql: SqlClient.SqlClient, domainId: DomainId, eventId: EventId) =>
  sql<
    Place.Columns & {
      readonly id: InboundEmailId
      readonly authenticationResults: string | null
      readonly sha256: Uint8Array
      readonly traceBytes: number
    }
  >`
    SELECT inbound_emails.id, inbound_emails.authentication_results, inbound_emails.sha256, trace_bytes,
      segment, raw_at, raw_bytes
    FROM events JOIN inbound_emails ON inbound_emails.id = events.inbound_email_id
    WHERE events.id = ${eventId} AND events.domain_id = ${domainId}
  `.pipe(
    Effect.map(([row]) => {
      if (row === undefined) return undefined
      const { authenticationResults, id, sha256, traceBytes } = row
      const kept: Kept = { id, domainId, sha256, traceBytes, place: Place.ofColumns(row) }
      return { kept, authenticationResults }
    })
  )

const other = Effect.fail(new RawDamaged({ reason: "its SHA-256 differs from its row's" }))

const isWhole = (message: Uint8Array, { sha256, traceBytes }: Kept) =>
  createHash("sha256").update(message.subarray(traceBytes)).digest().equals(sha256)

/** Loads a raw message and compares it with its row. Counts and logs damage. */
export const load = (raw: RawStore["Service"], kept: Kept) =>
  raw.get(rawRef(kept.domainId, kept.id), kept.place).pipe(
    Effect.flatMap((message) => (isWhole(message, kept) ? Effect.succeed(message) : other)),
    Effect.tapErrorTag("RawDamaged", ({ reason }) =>
      Effect.andThen(
        Metric.update(damaged, 1),
        Effect.logError("A raw message is damaged. Restore its segment, file or object from a backup", reason)
      ).pipe(Effect.annotateLogs({ inbound_email_id: kept.id, domain_id: kept.domainId }))
    ),
    Effect.catchTag("RawDamaged", () =>
      Effect.fail(
        new Damaged({
          message: "The stored message is damaged. Ask the operator to restore it from a backup"
        })
      )
    )
  )
