import { Clock, Context, type DateTime, Duration, Effect, Exit, Layer, Option, type Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import * as Columns from "../database/Columns.ts"
import type { Conflict, NotFound } from "../model/ApiError.ts"
import type { DeliveryStatus } from "../model/Delivery.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import { plainFormat, type WebhookId } from "../model/Webhook.ts"
import type { SigningSecrets } from "../providers/signing/WebhookSigner.ts"
import * as Settings from "../Settings.ts"
import * as Claims from "./Claims.ts"
import * as DeliveryRows from "./DeliveryRows.ts"
import * as DuePulls from "./DuePulls.ts"
import * as Lease from "./Lease.ts"
import * as LostWorkers from "./LostWorkers.ts"
import * as NextAttempt from "./NextAttempt.ts"
import { OpenedSecrets } from "./OpenedSecrets.ts"
import * as SeenDeliveries from "./SeenDeliveries.ts"
import * as Settlements from "./Settlements.ts"
import type { Outcome } from "./WebhookSender.ts"

/** A delivery leased to a pull client. */
export interface Pulled extends Lease.Lease {
  readonly id: EventId
  /** Of the payload. */
  readonly bytes: number
  /** Null for a large payload, which is loaded while the answer is written. */
  readonly payload: string | null
  readonly leasedUntil: DateTime.Utc
  readonly secrets: SigningSecrets
}

export interface Taken {
  /** Longest due first. */
  readonly deliveries: ReadonlyArray<Pulled>
  /** Marks the leases as handed out, so that they expire by themselves. Before, closing the scope releases them. */
  readonly told: Effect.Effect<void>
}

/** The outcome of a pulled delivery. */
export interface Report extends Outcome {
  readonly eventId: EventId
  readonly attempt: number
}

/** The state of a reported delivery. */
export interface Standing {
  readonly eventId: EventId
  readonly attempt: number
  /** The outcome is stored, now or earlier. */
  readonly isSettled: boolean
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly dueAt: Date
  readonly deliveredAt: Date | null
  readonly lastError: string | null
}

interface Wanted {
  readonly most: number
  readonly webhookId: WebhookId | undefined
  /** Only deliveries to local parts that this pattern takes, for a key with a limit. */
  readonly only: string | undefined
}

/** Maximum bytes of payloads that a claim loads. Larger ones are loaded while the answer is written. */
const bytesAtOnce = 256 * 1024

/**
 * Leases deliveries of domains with `pull` to clients, which post them and report outcomes. Uses the same rows, leases,
 * attempts and retries as the workers.
 */
export class PullDeliveries extends Context.Service<
  PullDeliveries,
  {
    /**
     * Leases due deliveries or waits for some: up to a number, and up to a page of payloads plus one. Of all webhooks
     * of the domain with the action `pull`, or of one. With `only`, deliveries to local parts that this pattern takes.
     */
    take(
      domainId: DomainId,
      options: Wanted & { readonly time: Duration.Duration }
    ): Effect.Effect<Taken, NotFound | Conflict | SqlError, Scope.Scope>
    /** Stores the outcomes of leased deliveries. Ignores those with an expired or foreign lease. */
    settle(
      domainId: DomainId,
      reports: ReadonlyArray<Report>,
      only: string | undefined
    ): Effect.Effect<ReadonlyArray<Standing>, SqlError>
  }
>()("inlet/delivery/PullDeliveries") {
  static readonly layer = Layer.effect(
    PullDeliveries,
    Effect.gen(function* () {
      return PullDeliveries.of({ take: yield* makeTake, settle: yield* makeSettle })
    })
  ).pipe(Layer.provide(OpenedSecrets.layer))
}

const makeTake = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const due = yield* DuePulls.make
  const opened = yield* OpenedSecrets
  const { timeout } = yield* Settings.webhooks
  const { pageBytes } = yield* Settings.answers
  const claims = Claims.make(sql, Lease.seconds(timeout))
  const withoutLost = yield* LostWorkers.make

  const claim = Effect.fnUntraced(function* (
    webhooks: ReadonlyArray<WebhookId>,
    { most, only }: Omit<Wanted, "webhookId">
  ) {
    const rows = yield* claims.pulled({ webhooks, most, mostBytes: pageBytes, bytesAtOnce, only: only ?? null })
    const leased = yield* Effect.forEach(
      (yield* withoutLost(rows)).toSorted((one, other) => one.bytesBefore - other.bytesBefore),
      Effect.fnUntraced(function* (row) {
        const { bytes, leasedUntil, payload } = row
        const secrets = yield* Effect.exit(opened.open(row))
        if (Exit.isSuccess(secrets)) {
          return [{ ...Lease.of(row), id: row.eventId, bytes, leasedUntil, payload, secrets: secrets.value }]
        }
        // One failure must not block the others. The lease ends, and the log says why.
        yield* Effect.logError("The signing secret of a workspace could not be decrypted", secrets.cause)
        return []
      })
    )
    return leased.flat()
  })

  /** Uninterruptible between the claim and its finalizer. */
  const look = Effect.fnUntraced(function* (domainId: DomainId, { webhookId, ...wanted }: Wanted) {
    const webhooks = yield* due.webhooksOf(domainId, webhookId)
    if (webhooks.length === 0) return { deliveries: [], told: Effect.void }
    let isTold = false
    const deliveries = yield* Effect.acquireRelease(claim(webhooks, wanted), (leased) =>
      isTold ? Effect.void : Effect.ignore(claims.giveBack(leased))
    )
    const told = Effect.sync(() => {
      isTold = true
    })
    return { deliveries, told }
  })

  const take: PullDeliveries["Service"]["take"] = Effect.fn("PullDeliveries.take")(function* (
    domainId,
    { time, ...wanted }
  ) {
    const first = yield* look(domainId, wanted)
    if (first.deliveries.length > 0 || Duration.isZero(time)) return first
    const found = yield* due.news(domainId).pipe(
      // The timeout ends the wait, not a claim.
      Stream.interruptWhen(Effect.sleep(time)),
      Stream.mapEffect(() => look(domainId, wanted)),
      Stream.filter(({ deliveries }) => deliveries.length > 0),
      Stream.runHead
    )
    return Option.getOrElse(found, () => first)
  }, Bugs.die)
  return take
})

const makeSettle = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { timeout } = yield* Settings.webhooks
  const next = yield* NextAttempt.make
  const write = yield* Settlements.statement

  const settle: PullDeliveries["Service"]["settle"] = Effect.fn("PullDeliveries.settle")(
    function* (domainId, given, only) {
      const reports = only === undefined ? given : yield* SeenDeliveries.among(sql, domainId, given, only)
      const now = yield* Clock.currentTimeMillis
      const settlementOf = Effect.fnUntraced(function* (
        { claimedAt, eventId, spent, webhookId }: LeasedRow,
        report: Report
      ) {
        const { attempt } = report
        const attemptOfBudget = Math.max(attempt - spent, 1)
        const { asked, status, wait } =
          report.error === null
            ? { asked: Duration.zero, status: "delivered", wait: Duration.zero }
            : yield* next(attemptOfBudget, report)
        return {
          lease: {
            eventId,
            domainId,
            webhookId,
            attempt,
            attemptOfBudget,
            url: Lease.pull,
            format: plainFormat,
            credentials: null
          },
          requestedAt: Math.max(now - report.durationMs, claimedAt.getTime()),
          outcome: report,
          askedSeconds: Duration.toSeconds(asked),
          status,
          waitSeconds: Duration.toSeconds(wait)
        }
      })
      const byId = new Map(reports.map((report) => [report.eventId, report]))
      return yield* sql.withTransaction(
        Effect.gen(function* () {
          const settlements = (yield* leased(sql, domainId, reports, Lease.seconds(timeout))).flatMap((row) => {
            const report = byId.get(row.eventId)
            return report === undefined ? [] : [settlementOf(row, report)]
          })
          const stored = yield* Effect.all(settlements)
          if (stored.length > 0) yield* write(stored)
          return yield* standings(sql, domainId, reports)
        })
      )
    }
  )
  return settle
})

const columnsOf = (sql: SqlClient.SqlClient, reports: ReadonlyArray<Report>) => {
  const column = Columns.of(reports)
  return sql`unnest(
    ${column("uuid", ({ eventId }) => eventId)}, ${column("int4", ({ attempt }) => attempt)}
  ) AS told (event_id, attempt)`
}

interface LeasedRow {
  readonly eventId: EventId
  readonly webhookId: WebhookId
  readonly spent: number
  readonly claimedAt: Date
}

/** Locks the deliveries with this lease. An outcome counts once, also if the delivery is held meanwhile. */
const leased = (sql: SqlClient.SqlClient, domainId: DomainId, reports: ReadonlyArray<Report>, leaseSeconds: number) =>
  sql<LeasedRow>`
    SELECT deliveries.event_id, ${DeliveryRows.ofDelivery(sql)} AS webhook_id, spent, claimed_at
    FROM ${columnsOf(sql, reports)} JOIN deliveries ON deliveries.event_id = told.event_id
    WHERE domain_id = ${domainId} AND attempts = told.attempt AND claimed_url = '${sql.literal(Lease.pull)}' AND (
      (status = 'pending' AND leased_until > now())
      OR (status = 'held' AND claimed_at > now() - make_interval(secs => ${leaseSeconds}) AND NOT EXISTS (
        SELECT 1 FROM delivery_attempts
        WHERE delivery_attempts.event_id = told.event_id AND delivery_attempts.attempt = told.attempt
      ))
    )
    ORDER BY deliveries.event_id FOR UPDATE OF deliveries
  `

const standings = (sql: SqlClient.SqlClient, domainId: DomainId, reports: ReadonlyArray<Report>) =>
  sql<Standing>`
    SELECT told.event_id, told.attempt, status, attempts, due_at, delivered_at, last_error, EXISTS (
      SELECT 1 FROM delivery_attempts
      WHERE delivery_attempts.event_id = told.event_id AND delivery_attempts.attempt = told.attempt
        AND url = '${sql.literal(Lease.pull)}' AND duration_ms IS NOT NULL
    ) AS is_settled
    FROM ${columnsOf(sql, reports)} JOIN deliveries ON deliveries.event_id = told.event_id
    WHERE domain_id = ${domainId}
  `
