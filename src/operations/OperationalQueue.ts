import { Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import * as Lease from "../delivery/Lease.ts"
import { OperationalEventId } from "../model/OperationalEvent.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"

const Claim = Schema.Struct({
  workspaceId: WorkspaceId,
  url: Schema.String,
  /** The last request to this webhook failed. */
  isFailing: Schema.Boolean,
  eventId: OperationalEventId,
  attempt: Schema.Int,
  payload: Schema.String,
  signingSecret: Schema.Uint8Array,
  previousSigningSecret: Schema.NullOr(Schema.Uint8Array)
})

/** The right to one request, until the lease of its webhook ends. */
export type Claim = typeof Claim.Type

/** The outcome of a request. `wait` is the delay until the next one, or null after the last. */
export interface Settled {
  readonly error: string | null
  readonly wait: Duration.Duration | null
}

/** Webhooks that one claim takes, by whether their last request failed. */
export interface Room {
  readonly steady: number
  readonly failing: number
}

/** The queue of operational webhook requests, one at a time for each workspace. */
export class OperationalQueue extends Context.Service<
  OperationalQueue,
  {
    /** Leases webhooks that are due, each with its oldest due event. */
    claim(room: Room): Effect.Effect<ReadonlyArray<Claim>, SqlError>
    /** Stores an outcome and ends the lease. Changes nothing if the lease has passed to another process. */
    settle(claim: Claim, settled: Settled): Effect.Effect<void, SqlError>
    /** Ends the lease of a request that was not made. It costs no attempt. */
    giveBack(claim: Claim): Effect.Effect<void, SqlError>
  }
>()("inlet/operations/OperationalQueue") {
  static readonly layer = Layer.effect(
    OperationalQueue,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { timeout } = yield* Settings.webhooks
      const leaseSeconds = Lease.seconds(timeout)

      const due = (isFailing: boolean, most: number) => sql`ARRAY(
        SELECT workspace_id FROM operational_webhooks
        WHERE is_failing = ${isFailing} AND turn_at <= now() AND (leased_until IS NULL OR leased_until < now())
        ORDER BY turn_at LIMIT ${most}
        FOR UPDATE SKIP LOCKED
      )`

      const lease = SqlSchema.findAll({
        Request: Schema.Struct({ steady: Schema.Int, failing: Schema.Int }),
        Result: Schema.Struct({ ...Claim.fields, eventId: Schema.NullOr(OperationalEventId) }),
        execute: ({ failing, steady }) => sql`
          WITH webhook AS (
            UPDATE operational_webhooks SET leased_until = now() + make_interval(secs => ${leaseSeconds})
            WHERE workspace_id = ANY(${due(false, steady)} || ${due(true, failing)})
            RETURNING workspace_id, url, is_failing
          ), next AS MATERIALIZED (
            SELECT webhook.workspace_id, oldest.event_id FROM webhook CROSS JOIN LATERAL (
              SELECT event_id FROM operational_deliveries
              WHERE operational_deliveries.workspace_id = webhook.workspace_id AND next_attempt_at <= now()
              ORDER BY next_attempt_at LIMIT 1
            ) AS oldest
          ), begun AS (
            UPDATE operational_deliveries SET attempts = attempts + 1
            FROM next WHERE operational_deliveries.event_id = next.event_id
            RETURNING operational_deliveries.event_id, operational_deliveries.workspace_id, attempts
          )
          SELECT webhook.*, begun.event_id, coalesce(attempts, 0) AS attempt, coalesce(payload, '') AS payload,
            signing_secret,
            CASE WHEN previous_secret_until > now() THEN previous_signing_secret END AS previous_signing_secret
          FROM webhook JOIN workspaces ON workspaces.id = webhook.workspace_id
          LEFT JOIN begun ON begun.workspace_id = webhook.workspace_id
          LEFT JOIN operational_events ON operational_events.id = begun.event_id
        `
      })

      /** Locks the webhook first, so that the next statement sees every event that was queued for it. */
      const lock = (workspaceId: WorkspaceId) => sql<{ readonly url: string }>`
        SELECT url FROM operational_webhooks WHERE workspace_id = ${workspaceId} FOR UPDATE
      `

      /** Ends the lease of a locked webhook. */
      const release = (workspaceId: WorkspaceId, isFailing: boolean) => sql`
        UPDATE operational_webhooks SET leased_until = NULL, is_failing = ${isFailing}, turn_at = (
          SELECT next_attempt_at FROM operational_deliveries
          WHERE workspace_id = ${workspaceId} AND next_attempt_at IS NOT NULL ORDER BY next_attempt_at LIMIT 1
        )
        WHERE workspace_id = ${workspaceId}
      `

      const claim = Effect.fn("OperationalQueue.claim")(function* (room: Room) {
        const leased = yield* Bugs.die(lease(room))
        const claims: Array<Claim> = []
        for (const { eventId, ...rest } of leased) {
          if (eventId !== null) claims.push({ ...rest, eventId })
          // Its event has expired, or is due later.
          else {
            const { isFailing, workspaceId } = rest
            yield* sql.withTransaction(Effect.andThen(lock(workspaceId), release(workspaceId, isFailing)))
          }
        }
        return claims
      })

      const settle = Effect.fn("OperationalQueue.settle")(
        ({ attempt, eventId, url, workspaceId }: Claim, { error, wait }: Settled) =>
          sql.withTransaction(
            Effect.gen(function* () {
              const [webhook] = yield* lock(workspaceId)
              // A failure at an earlier URL says nothing about the new one, which is tried at once.
              const isMoved = webhook !== undefined && webhook.url !== url && error !== null
              const next = isMoved ? Duration.zero : wait
              // Without a webhook no process would make the next attempt.
              const seconds = webhook === undefined || next === null ? null : Duration.toSeconds(next)
              const settled = yield* sql`
                UPDATE operational_deliveries SET
                  delivered_at = CASE WHEN ${error}::text IS NULL THEN now() END,
                  last_error = ${error},
                  next_attempt_at = now() + make_interval(secs => ${seconds}::float8)
                WHERE event_id = ${eventId} AND attempts = ${attempt} AND delivered_at IS NULL
                RETURNING event_id
              `
              if (settled.length > 0) yield* release(workspaceId, error !== null && !isMoved)
            })
          )
      )

      const giveBack = Effect.fn("OperationalQueue.giveBack")(({ attempt, eventId, isFailing, workspaceId }: Claim) =>
        sql.withTransaction(
          Effect.gen(function* () {
            yield* lock(workspaceId)
            const returned = yield* sql`
              UPDATE operational_deliveries SET attempts = attempts - 1
              WHERE event_id = ${eventId} AND attempts = ${attempt} AND next_attempt_at IS NOT NULL
              RETURNING event_id
            `
            if (returned.length > 0) yield* release(workspaceId, isFailing)
          })
        )
      )

      return OperationalQueue.of({ claim, settle, giveBack })
    })
  )
}

/** Ends all leases, for the only process of an embedded database at its start. */
export const endLeases = (sql: SqlClient.SqlClient) =>
  sql`UPDATE operational_webhooks SET leased_until = NULL WHERE leased_until IS NOT NULL`
