import { NodeCrypto } from "@effect/platform-node"
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { DomainId } from "../model/Domain.ts"
import { EventId } from "../model/InboundEvent.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import { SecretsKey } from "../workspaces/SecretsKey.ts"
import * as Retries from "./Retries.ts"
import type { Outcome } from "./WebhookSender.ts"
import type { SigningSecrets } from "./WebhookSigner.ts"

/** A delivery this process holds until its lease ends. */
export interface Claimed {
  readonly eventId: EventId
  readonly domainId: DomainId
  /** Numbered on over replays; fences off a worker that lost its lease. */
  readonly attempt: number
  /** Which attempt of the present budget this is. */
  readonly attemptOfBudget: number
  readonly url: string
  readonly payload: string
  readonly secrets: SigningSecrets
}

const Row = Schema.Struct({
  eventId: EventId,
  domainId: DomainId,
  attempts: Schema.Int,
  spent: Schema.Int,
  url: Schema.String,
  payload: Schema.String,
  workspaceId: WorkspaceId,
  signingSecret: Schema.Uint8Array,
  previousSigningSecret: Schema.NullOr(Schema.Uint8Array)
})

/** Longest a `Retry-After` is believed. */
const longestRetryAfter = Duration.hours(24)

/** The queue of webhook deliveries. Due times and leases go by the database's clock. */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /** Takes what is due: at most `most` in all, and for each domain what `perDomain` leaves beside what is `busy`. */
    claim(options: {
      readonly most: number
      readonly perDomain: number
      readonly busy: ReadonlyMap<DomainId, number>
    }): Effect.Effect<ReadonlyArray<Claimed>, SqlError>
    /** Writes down what became of an attempt, and decides what comes next. Late news of a lost lease change nothing. */
    settle(claimed: Claimed, outcome: Outcome, requestedAt: DateTime.Utc): Effect.Effect<void, SqlError>
    /** Gives back what was claimed and not requested to its end. */
    giveBack(claimed: Claimed): Effect.Effect<void, SqlError>
  }
>()("inlet/delivery/DeliveryQueue") {
  static readonly layer = Layer.effect(
    DeliveryQueue,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const secretsKey = yield* SecretsKey
      const { retryDelays, timeout } = yield* Settings.webhooks
      const retries = Retries.schedule(retryDelays)
      const leaseSeconds = Math.max(60, Duration.toSeconds(timeout) + 30)

      // Domain by domain, so that the backlog of one is never read through to find another's
      // mail; in each the oldest first. An expired lease that is taken over leaves a row behind,
      // so that the attempt nobody finished is listed too.
      const claimRows = SqlSchema.findAll({
        Request: Schema.Struct({
          most: Schema.Int,
          perDomain: Schema.Int,
          busyDomains: Schema.Array(DomainId),
          busyCounts: Schema.Array(Schema.Int)
        }),
        Result: Row,
        execute: ({ busyCounts, busyDomains, most, perDomain }) => sql`
          WITH RECURSIVE waiting AS (
            (SELECT domain_id FROM deliveries WHERE status = 'pending' ORDER BY domain_id LIMIT 1)
            UNION ALL
            SELECT (
              SELECT deliveries.domain_id FROM deliveries
              WHERE status = 'pending' AND deliveries.domain_id > waiting.domain_id
              ORDER BY deliveries.domain_id LIMIT 1
            )
            FROM waiting WHERE waiting.domain_id IS NOT NULL
          ), due AS (
            SELECT next.event_id, next.attempts, next.leased_until, domains.webhook_url, domains.workspace_id
            FROM waiting
            JOIN domains ON domains.id = waiting.domain_id
              AND domains.status <> 'disabled' AND domains.webhook_url IS NOT NULL
            LEFT JOIN unnest(${busyDomains}::uuid[], ${busyCounts}::int[]) AS busy (domain_id, requests)
              ON busy.domain_id = waiting.domain_id
            CROSS JOIN LATERAL (
              SELECT event_id, attempts, due_at, leased_until FROM deliveries
              WHERE deliveries.domain_id = waiting.domain_id AND status = 'pending'
                AND due_at <= now() AND (leased_until IS NULL OR leased_until <= now())
              ORDER BY due_at
              LIMIT greatest(${perDomain} - coalesce(busy.requests, 0), 0)
              FOR UPDATE SKIP LOCKED
            ) AS next
            ORDER BY next.due_at
            LIMIT ${most}
          ), lost AS (
            INSERT INTO delivery_attempts (id, event_id, domain_id, attempt, url, requested_at, ok, error)
            SELECT gen_random_uuid(), due.event_id, events.domain_id, due.attempts, due.webhook_url,
              due.leased_until - make_interval(secs => ${leaseSeconds}), false,
              'the worker stopped before it knew the answer'
            FROM due JOIN events ON events.id = due.event_id
            WHERE due.leased_until IS NOT NULL
            ON CONFLICT (event_id, attempt) DO NOTHING
          )
          UPDATE deliveries SET
            attempts = deliveries.attempts + 1,
            leased_until = now() + make_interval(secs => ${leaseSeconds})
          FROM due
          JOIN events ON events.id = due.event_id
          JOIN workspaces ON workspaces.id = due.workspace_id
          WHERE deliveries.event_id = due.event_id
          RETURNING deliveries.event_id, deliveries.domain_id, deliveries.attempts, deliveries.spent,
            due.webhook_url AS url, events.payload, workspaces.id AS workspace_id, workspaces.signing_secret,
            CASE WHEN workspaces.previous_secret_until > now() THEN workspaces.previous_signing_secret END
              AS previous_signing_secret
        `
      })

      const claim: DeliveryQueue["Service"]["claim"] = Effect.fn("DeliveryQueue.claim")(
        function* (options) {
          const rows = yield* claimRows({
            most: options.most,
            perDomain: options.perDomain,
            busyDomains: [...options.busy.keys()],
            busyCounts: [...options.busy.values()]
          })
          return yield* Effect.forEach(rows, (row) =>
            Effect.gen(function* () {
              const { previousSigningSecret: previous, workspaceId } = row
              return {
                eventId: row.eventId,
                domainId: row.domainId,
                attempt: row.attempts,
                attemptOfBudget: Math.max(row.attempts - row.spent, 1),
                url: row.url,
                payload: row.payload,
                secrets: {
                  current: yield* secretsKey.open(row.signingSecret, workspaceId),
                  previous: previous === null ? undefined : yield* secretsKey.open(previous, workspaceId)
                }
              }
            })
          )
        },
        Effect.catchTag("SchemaError", Effect.die)
      )

      /** What an outcome makes of the delivery: done, dead, or due again after a wait. */
      const next = Effect.fnUntraced(function* (claimed: Claimed, outcome: Outcome) {
        if (outcome.error === null) return { status: "delivered", waitSeconds: 0 }
        const wait = yield* Retries.delayAfter(retries, claimed.attemptOfBudget)
        if (outcome.statusCode === 410 || Option.isNone(wait)) return { status: "dead", waitSeconds: 0 }
        const asked = yield* askedWait(outcome)
        return { status: "pending", waitSeconds: Duration.toSeconds(Duration.max(wait.value, asked)) }
      })

      const settle: DeliveryQueue["Service"]["settle"] = Effect.fn("DeliveryQueue.settle")(
        function* (claimed, outcome, requestedAt) {
          const ok = outcome.error === null
          const { status, waitSeconds } = yield* next(claimed, outcome)
          const attemptId = yield* random.uuidV7()
          // The attempt is listed in any case; the delivery moves only for the holder of the present lease.
          yield* sql`
            WITH attempt AS (
              INSERT INTO delivery_attempts (
                id, event_id, domain_id, attempt, url, requested_at, duration_ms, status_code, ok, error, response_body
              )
              SELECT ${attemptId}, id, domain_id, ${claimed.attempt}::int, ${claimed.url},
                ${DateTime.toDateUtc(requestedAt)}, ${outcome.durationMs}::int, ${outcome.statusCode}::int,
                ${ok}::boolean, ${outcome.error}, ${outcome.responseBody}
              FROM events WHERE id = ${claimed.eventId}
              ON CONFLICT (event_id, attempt) DO UPDATE SET
                requested_at = excluded.requested_at, duration_ms = excluded.duration_ms,
                status_code = excluded.status_code, ok = excluded.ok, error = excluded.error,
                response_body = excluded.response_body
            ), settled AS (
              UPDATE deliveries SET
                -- Replayed since the request began: a failure leaves it due, with the fresh budget.
                status = CASE WHEN spent >= attempts AND NOT ${ok}::boolean THEN 'pending' ELSE ${status} END,
                due_at = CASE
                  WHEN spent >= attempts AND NOT ${ok}::boolean THEN due_at
                  ELSE now() + make_interval(secs => ${waitSeconds})
                END,
                leased_until = NULL,
                delivered_at = CASE WHEN ${ok}::boolean THEN now() END,
                last_error = ${outcome.error}
              WHERE event_id = ${claimed.eventId} AND attempts = ${claimed.attempt}
                -- Held since the request began: a success still counts.
                AND (status = 'pending' OR (status = 'held' AND ${ok}::boolean))
              RETURNING domain_id
            )
            UPDATE domains SET status = 'live', live_at = now()
            FROM settled
            WHERE domains.id = settled.domain_id AND ${ok}::boolean AND domains.status IN ('verified', 'mx_pending')
          `
        }
      )

      const giveBack = Effect.fn("DeliveryQueue.giveBack")(
        (claimed: Claimed) => sql`
          UPDATE deliveries SET leased_until = NULL, attempts = attempts - 1
          WHERE event_id = ${claimed.eventId} AND attempts = ${claimed.attempt} AND status = 'pending'
        `,
        Effect.asVoid
      )

      return DeliveryQueue.of({ claim, settle, giveBack })
    })
  ).pipe(Layer.provide([SecretsKey.layer, NodeCrypto.layer]))
}

/** `Retry-After` of a 429 or 503, in seconds or as a date (RFC 9110, section 10.2.3); anything else is no wish at all. */
const askedWait = Effect.fnUntraced(function* ({ retryAfter, statusCode }: Outcome) {
  if (retryAfter === null || (statusCode !== 429 && statusCode !== 503)) return Duration.zero
  const now = yield* DateTime.now
  const wait = /^\d+$/.test(retryAfter)
    ? Duration.seconds(Number(retryAfter))
    : Option.match(/^\w{3}, /.test(retryAfter) ? DateTime.make(retryAfter) : Option.none(), {
        onNone: () => Duration.zero,
        onSome: (date) => Duration.millis(Math.max(0, DateTime.toEpochMillis(date) - DateTime.toEpochMillis(now)))
      })
  return Duration.min(wait, longestRetryAfter)
})
