import { Clock, Context, DateTime, Duration, Effect, Exit, FiberSet, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Columns from "../database/Columns.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import * as RetryDelay from "../schedule/RetryDelay.ts"
import { SecretsKey } from "../workspaces/SecretsKey.ts"
import * as Claims from "./Claims.ts"
import * as Lease from "./Lease.ts"
import * as OpenedSecrets from "./OpenedSecrets.ts"
import * as Pausing from "./Pausing.ts"
import * as Retries from "./Retries.ts"
import * as Settlements from "./Settlements.ts"
import type { Outcome } from "./WebhookSender.ts"
import type { SigningSecrets } from "./WebhookSigner.ts"

/** Longest a `Retry-After` is believed. */
const longestRetryAfter = Duration.hours(24)

/** Losing a worker or two is bad luck; a delivery that loses more of them waits like one that is refused. */
const lossesRepeatedAtOnce = 2

/** Longest reason that is kept. */
const errorCharacters = 1_000

/** The queue of webhook deliveries. Due times and leases go by the database's clock. */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /** The domains that have something due, the one whose oldest delivery has waited longest first. */
    readonly waiting: Effect.Effect<
      ReadonlyArray<{ readonly domainId: DomainId; readonly workspaceId: WorkspaceId }>,
      SqlError
    >
    /** Takes what is due of these domains, of each at most so many, and no more payloads than `mostBytes` and one. */
    claim(
      rooms: ReadonlyMap<DomainId, number>,
      mostBytes: number
    ): Effect.Effect<ReadonlyArray<Lease.LeasedDelivery>, SqlError>
    /** Takes one delivery of each paused webhook whose next try is due, however long the delivery itself would wait. */
    claimProbes(most: number): Effect.Effect<ReadonlyArray<Lease.LeasedDelivery>, SqlError>
    /** What is leased to us already, ready to be requested. */
    requestable(rows: ReadonlyArray<Lease.SealedDelivery>): Effect.Effect<ReadonlyArray<Lease.LeasedDelivery>, SqlError>
    /** The same of one that was just written, where the secrets of its workspace are open. A plain function. */
    requestableNow(row: Lease.SealedDelivery): Lease.LeasedDelivery | undefined
    /**
     * Writes down what became of an attempt, and decides what comes next. Late news of a lost lease
     * change nothing. On the path of every message: a plain function, and `settled` is called once.
     */
    settle(
      lease: Lease.Lease,
      outcome: Outcome,
      /** Milliseconds since 1970. */
      requestedAt: number,
      settled: (exit: Exit.Exit<void, SqlError>) => void
    ): void
    /** Gives back what is leased and was not requested to its end. */
    giveBack(leases: ReadonlyArray<Lease.Lease>): Effect.Effect<void, SqlError>
    /** How long the oldest delivery that could go out has been due, in seconds; 0 when none waits. */
    readonly oldestDueSeconds: Effect.Effect<number, SqlError>
  }
>()("inlet/delivery/DeliveryQueue") {
  static readonly layer = Layer.effect(
    DeliveryQueue,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const secrets = yield* OpenedSecrets.make
      const fork = yield* FiberSet.makeRuntime()
      const { retryDelays, timeout } = yield* Settings.webhooks
      const retries = Retries.schedule(retryDelays)
      const claims = Claims.make(sql, Lease.seconds(timeout))

      /** Of each event how many attempts of its present budget nobody finished. */
      const losses = Effect.fnUntraced(function* (rows: ReadonlyArray<Lease.SealedDelivery>) {
        const takenOver = rows.filter((row) => row.takenOver).map(({ eventId }) => eventId)
        if (takenOver.length === 0) return new Map<EventId, number>()
        const counts = yield* sql<{ readonly eventId: EventId; readonly count: number }>`
          SELECT event_id, count(*)::int AS count
          FROM delivery_attempts JOIN deliveries USING (event_id)
          WHERE event_id = ANY(${takenOver}::uuid[]) AND attempt > spent AND NOT ok AND duration_ms IS NULL
          GROUP BY event_id
        `
        return new Map(counts.map(({ count, eventId }) => [eventId, count]))
      })

      /** Not tried now: it may be what its workers stop of. */
      const postpone = Effect.fnUntraced(function* ({ attempt, eventId }: Lease.Lease, lost: number) {
        const wait = yield* RetryDelay.after(retries, lost)
        const seconds = Duration.toSeconds(Option.getOrElse(wait, () => Duration.zero))
        yield* sql`
          UPDATE deliveries SET
            attempts = attempts - 1,
            leased_until = NULL,
            status = ${Option.isNone(wait) ? "dead" : "pending"},
            due_at = now() + make_interval(secs => ${seconds}),
            last_error = ${`${lost} workers stopped before they knew the answer`}
          WHERE event_id = ${eventId} AND attempts = ${attempt} AND status = 'pending'
        `
        yield* Effect.logWarning("A delivery loses its workers again and again; it waits").pipe(
          Effect.annotateLogs({ event_id: eventId, attempt })
        )
      })

      const withSecrets = (row: Lease.SealedDelivery, secrets: SigningSecrets): Lease.LeasedDelivery => ({
        ...Lease.of(row),
        workspaceId: row.workspaceId,
        payload: typeof row.payload === "string" ? Buffer.from(row.payload) : row.payload,
        secrets
      })

      const requestableNow: DeliveryQueue["Service"]["requestableNow"] = (row) => {
        const known = secrets.known(row)
        return known === undefined ? undefined : withSecrets(row, known)
      }

      /** What of the leased can be requested. One that can't must not keep the others from it. */
      const requestable = Effect.fnUntraced(function* (rows: ReadonlyArray<Lease.SealedDelivery>) {
        const lost = yield* losses(rows)
        const found = yield* Effect.forEach(
          rows,
          Effect.fnUntraced(function* (row) {
            const lease = Lease.of(row)
            const lostBefore = lost.get(row.eventId) ?? 0
            if (lostBefore > lossesRepeatedAtOnce) {
              yield* postpone(lease, lostBefore)
              return []
            }
            const opened = yield* Effect.exit(secrets.open(row))
            if (Exit.isFailure(opened)) {
              yield* Effect.logError("The signing secret of a workspace can't be opened", opened.cause)
              const requestedAt = yield* Clock.currentTimeMillis
              yield* Effect.callback<void, SqlError>((resume) =>
                settle(lease, unasked("the signing secret can't be opened"), requestedAt, resume)
              )
              return []
            }
            return [withSecrets(row, opened.value)]
          })
        )
        return found.flat()
      })

      /** What a failure makes of the delivery: dead, or due again after a wait. */
      const next = Effect.fnUntraced(function* (lease: Lease.Lease, outcome: Outcome) {
        const asked = yield* askedWait(outcome)
        const wait = yield* RetryDelay.after(retries, lease.attemptOfBudget)
        const isLast = outcome.statusCode === 410 || Option.isNone(wait)
        return {
          asked,
          status: isLast ? "dead" : "pending",
          wait: isLast ? Duration.zero : Duration.max(wait.value, asked)
        }
      })

      const settlements = yield* Settlements.make

      /** Writes news about the webhook, apart from the path and its locks. Should they be missed, the next outcome makes up for it. */
      const follow =
        (settled: (exit: Exit.Exit<void, SqlError>) => void, news: () => Effect.Effect<void, SqlError>) =>
        (exit: Exit.Exit<boolean, SqlError>) => {
          if (Exit.isSuccess(exit) && exit.value) fork(Effect.suspend(news)).addObserver(settled)
          else settled(Exit.asVoid(exit))
        }

      const settle: DeliveryQueue["Service"]["settle"] = (lease, outcome, requestedAt, settled) => {
        const { domainId, url } = lease
        if (outcome.error === null) {
          return settlements({
            lease,
            requestedAt,
            outcome,
            askedSeconds: 0,
            status: "delivered",
            waitSeconds: 0,
            written: follow(settled, () => Pausing.succeeded(sql, domainId))
          })
        }
        const error = outcome.error.replaceAll("\0", "").slice(0, errorCharacters)
        fork(next(lease, outcome)).addObserver(
          Exit.match({
            onSuccess: ({ asked, status, wait }) =>
              settlements({
                lease,
                requestedAt,
                outcome: { ...outcome, error },
                askedSeconds: Duration.toSeconds(asked),
                status,
                waitSeconds: Duration.toSeconds(wait),
                written: follow(settled, () => Pausing.failed(sql, { domainId, url, wait: asked }))
              }),
            onFailure: (cause) => settled(Exit.failCause(cause))
          })
        )
      }

      const claim: DeliveryQueue["Service"]["claim"] = Effect.fn("DeliveryQueue.claim")(
        function* (rooms, mostBytes) {
          const domains = [...rooms.keys()]
          const places = [...rooms.values()]
          return yield* requestable(yield* claims.due({ domains, places, mostBytes }))
        },
        Effect.catchTag("SchemaError", Effect.die)
      )

      const claimProbes: DeliveryQueue["Service"]["claimProbes"] = Effect.fn("DeliveryQueue.claimProbes")(
        function* (most) {
          return yield* requestable(yield* claims.probes(most))
        },
        Effect.catchTag("SchemaError", Effect.die)
      )

      const giveBack = Effect.fn("DeliveryQueue.giveBack")((leases: ReadonlyArray<Lease.Lease>) => {
        const column = Columns.of(leases)
        return leases.length === 0
          ? Effect.void
          : Effect.asVoid(sql`
              UPDATE deliveries SET leased_until = NULL, attempts = attempts - 1
              FROM unnest(
                ${column("uuid", ({ eventId }) => eventId)}, ${column("int4", ({ attempt }) => attempt)}
              ) AS lease (event_id, attempt)
              WHERE deliveries.event_id = lease.event_id AND attempts = lease.attempt AND status = 'pending'
            `)
      })

      return DeliveryQueue.of({
        waiting: claims.waitingDomains,
        claim,
        claimProbes,
        requestable,
        requestableNow,
        settle,
        giveBack,
        oldestDueSeconds: claims.oldestDueSeconds
      })
    })
  ).pipe(Layer.provide(SecretsKey.layer))
}

/** An attempt that came to nothing before anybody was asked. */
export const unasked = (error: string): Outcome => ({
  statusCode: null,
  error,
  durationMs: 0,
  responseBody: null,
  retryAfter: null
})

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
