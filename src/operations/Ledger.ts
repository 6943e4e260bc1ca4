import { Clock, DateTime, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as Columns from "../database/Columns.ts"
import type { DomainId } from "../model/Domain.ts"
import { OperationalEvent, OperationalEventId } from "../model/OperationalEvent.ts"
import * as Uuid7 from "../model/Uuid7.ts"
import type { WorkspaceId } from "../model/Workspace.ts"

/** Operational events of a workspace on a UTC day. Further ones are not recorded. */
export const mostOfDay = 500

const encode = Schema.encodeSync(Schema.fromJsonString(OperationalEvent))

/** The fields of an event that its kind decides. */
type Details<Event> = Event extends OperationalEvent ? Omit<Event, "event" | "event_id" | "workspace_id"> : never

/** An operational event to record. */
export interface Draft {
  /** Null for the operator alone. */
  readonly workspaceId: WorkspaceId | null
  readonly domainId: DomainId | null
  /** Distinguishes thresholds of one type. The type by default. */
  readonly kind?: string
  /** The start of the period in which it happens at most once. This hour by default. */
  readonly period?: DateTime.Utc
  readonly details: Details<OperationalEvent>
}

/** Records an event. Succeeds with whether it was recorded. */
export type Record = Effect.Success<typeof make>

/**
 * Makes a function that records events in one statement, and queues the requests of those whose workspace has an
 * operational webhook. Succeeds with the number of recorded ones. An event is not recorded if one of its kind is there
 * for the period, or if the workspace has too many.
 */
export const makeAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom

  return Effect.fn("Ledger.record")(function* (drafts: ReadonlyArray<Draft>) {
    const rows = yield* Effect.forEach(
      drafts,
      Effect.fnUntraced(function* ({ details, domainId, kind = details.type, period, workspaceId }) {
        const id = OperationalEventId.make(yield* random.uuidV7())
        const payload = encode({ ...details, event: "operational", event_id: id, workspace_id: workspaceId })
        const subject = domainId ?? workspaceId ?? "service"
        const { type } = details
        const begins = period === undefined ? null : DateTime.toDateUtc(period)
        return { id, workspaceId, domainId, type, subject, kind, begins, payload }
      })
    )
    const millis = yield* Clock.currentTimeMillis
    const today = Uuid7.lowestAt(millis - (millis % 86_400_000))
    const column = Columns.of(rows)
    const recorded = yield* sql`
      WITH recorded AS (
        INSERT INTO operational_events (id, workspace_id, domain_id, type, subject, kind, period, payload)
        SELECT id, workspace_id, domain_id, type, subject, kind,
          coalesce(begins, date_trunc('hour', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'), payload
        FROM (
          SELECT *, row_number() OVER (PARTITION BY workspace_id) AS number
          FROM unnest(
            ${column("uuid", ({ id }) => id)},
            ${column("uuid", ({ workspaceId }) => workspaceId)},
            ${column("uuid", ({ domainId }) => domainId)},
            ${column("text", ({ type }) => type)},
            ${column("text", ({ subject }) => subject)},
            ${column("text", ({ kind }) => kind)},
            ${column("timestamptz", ({ begins }) => begins)},
            ${column("text", ({ payload }) => payload)}
          ) AS input (id, workspace_id, domain_id, type, subject, kind, begins, payload)
        ) AS input
        WHERE number + (
          SELECT count(*) FROM (
            SELECT 1 FROM operational_events AS earlier
            WHERE earlier.workspace_id = input.workspace_id AND earlier.id >= ${today}::uuid LIMIT ${mostOfDay}
          ) AS today
        ) <= ${mostOfDay}
        -- The same order in all processes, because each waits for events of the others with the same key.
        ORDER BY subject, kind
        ON CONFLICT (subject, kind, period) DO NOTHING
        RETURNING id, workspace_id
      ), woken AS (
        UPDATE operational_webhooks SET turn_at = least(turn_at, now())
        -- Locked in the order of their ids, so that two processes that record at the same time wait for each other.
        WHERE workspace_id = ANY(ARRAY(
          SELECT workspace_id FROM operational_webhooks WHERE workspace_id IN (SELECT workspace_id FROM recorded)
          ORDER BY workspace_id FOR NO KEY UPDATE
        ))
        RETURNING workspace_id
      ), queued AS (
        INSERT INTO operational_deliveries (event_id, workspace_id, next_attempt_at)
        SELECT id, workspace_id, now() FROM recorded JOIN woken USING (workspace_id)
      )
      SELECT id FROM recorded
    `
    return recorded.length
  })
})

/** The same for one event. Succeeds with whether it was recorded. */
export const make = Effect.map(
  makeAll,
  (record) => (draft: Draft) => Effect.map(record([draft]), (recorded) => recorded > 0)
)
