import { Clock, DateTime, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
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
 * Makes a function that records an event, and queues its request if the workspace has an operational webhook. Succeeds
 * with whether it was recorded: it is not if one of its kind is there for the period, or the workspace has too many.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom

  return Effect.fn("Ledger.record")(function* ({ details, domainId, kind = details.type, period, workspaceId }: Draft) {
    const id = OperationalEventId.make(yield* random.uuidV7())
    const payload = encode({ ...details, event: "operational", event_id: id, workspace_id: workspaceId })
    const millis = yield* Clock.currentTimeMillis
    const today = Uuid7.lowestAt(millis - (millis % 86_400_000))
    const rows = yield* sql`
      WITH recorded AS (
        INSERT INTO operational_events (id, workspace_id, domain_id, type, subject, kind, period, payload)
        SELECT ${id}::uuid, ${workspaceId}::uuid, ${domainId}::uuid, ${details.type}::text,
          ${domainId ?? workspaceId ?? "service"}::text, ${kind}::text,
          coalesce(
            ${period === undefined ? null : DateTime.toDateUtc(period)}::timestamptz,
            date_trunc('hour', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
          ),
          ${payload}::text
        WHERE (
          SELECT count(*) FROM (
            SELECT 1 FROM operational_events
            WHERE workspace_id = ${workspaceId}::uuid AND id >= ${today}::uuid LIMIT ${mostOfDay}
          ) AS today
        ) < ${mostOfDay}
        ON CONFLICT (subject, kind, period) DO NOTHING
        RETURNING id, workspace_id
      ), woken AS (
        UPDATE operational_webhooks SET turn_at = least(turn_at, now())
        FROM recorded WHERE operational_webhooks.workspace_id = recorded.workspace_id
        RETURNING operational_webhooks.workspace_id
      ), queued AS (
        INSERT INTO operational_deliveries (event_id, workspace_id, next_attempt_at)
        SELECT id, workspace_id, now() FROM recorded JOIN woken USING (workspace_id)
      )
      SELECT id FROM recorded
    `
    return rows.length > 0
  })
})
