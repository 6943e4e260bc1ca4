import { Clock, Context, Duration, Effect, Exit, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import type { WebhookId } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import type { SigningSecrets } from "../providers/signing/WebhookSigner.ts"
import * as Settings from "../Settings.ts"
import * as Claims from "./Claims.ts"
import * as DeadCount from "./DeadCount.ts"
import * as DeliveryRows from "./DeliveryRows.ts"
import * as FailureReason from "./FailureReason.ts"
import * as Lease from "./Lease.ts"
import * as LostWorkers from "./LostWorkers.ts"
import * as NextAttempt from "./NextAttempt.ts"
import { OpenedSecrets } from "./OpenedSecrets.ts"
import * as Pausing from "./Pausing.ts"
import * as Settlements from "./Settlements.ts"
import { failed, type Outcome } from "./WebhookSender.ts"

/** Maximum length of a stored reason. */
const errorCharacters = 1_000

/** Another step follows one that held as many as it may of a webhook. The pauses leave the database to others. */
const untilHeld = {
  until: (held: number) => held < DeliveryRows.mostHeld,
  schedule: Schedule.spaced("50 millis")
}

/** The queue of webhook deliveries. Due times and leases go by the database's clock. */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /** Finds webhooks with due deliveries, longest waiting first. */
    readonly waiting: Effect.Effect<
      ReadonlyArray<{ readonly webhookId: WebhookId; readonly workspaceId: WorkspaceId }>,
      SqlError
    >
    /**
     * Leases due deliveries of these webhooks, up to a number per webhook, and up to `mostBytes` of payloads plus one.
     */
    claim(
      rooms: ReadonlyMap<WebhookId, number>,
      mostBytes: number
    ): Effect.Effect<ReadonlyArray<Lease.LeasedDelivery>, SqlError>
    /**
     * Leases one delivery of each paused webhook whose next trial is due, regardless of the delivery's own due time.
     */
    claimProbes(most: number): Effect.Effect<ReadonlyArray<Lease.LeasedDelivery>, SqlError>
    /** Prepares leased deliveries for their requests. */
    requestable(rows: ReadonlyArray<Lease.SealedDelivery>): Effect.Effect<ReadonlyArray<Lease.LeasedDelivery>, SqlError>
    /** The same for a just inserted delivery, if its workspace's secrets are cached. A plain function. */
    requestableNow(row: Lease.SealedDelivery): Lease.LeasedDelivery | undefined
    /**
     * Stores the outcome of an attempt and the next state of its delivery. With a lost lease it only lists the attempt.
     */
    settle(
      lease: Lease.Lease,
      outcome: Outcome,
      /** Milliseconds since 1970. */
      requestedAt: number
    ): Effect.Effect<void, SqlError>
    /** Releases leased deliveries whose requests did not finish. */
    giveBack(leases: ReadonlyArray<Lease.Lease>): Effect.Effect<void, SqlError>
    /** Holds pending deliveries that nobody takes, in steps: their webhook holds, or is gone. */
    readonly holdUnserved: Effect.Effect<void, SqlError>
    /** Age in seconds of the oldest due delivery to post or to pull, 0 without one. */
    readonly oldestDueSeconds: Effect.Effect<{ readonly toPost: number; readonly toTake: number }, SqlError>
  }
>()("inlet/delivery/DeliveryQueue") {
  static readonly layer = Layer.effect(
    DeliveryQueue,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* Pausing.beginCount
      yield* DeadCount.add(0)
      const { timeout } = yield* Settings.webhooks
      const claims = Claims.make(sql, Lease.seconds(timeout))
      const settle = yield* makeSettle
      const { requestable, requestableNow } = yield* makeRequestable(settle)

      const claim: DeliveryQueue["Service"]["claim"] = Effect.fn("DeliveryQueue.claim")(function* (rooms, mostBytes) {
        const webhooks = [...rooms.keys()]
        const places = [...rooms.values()]
        return yield* requestable((yield* claims.due({ webhooks, places, mostBytes })).map(apart))
      }, Bugs.die)

      const claimProbes: DeliveryQueue["Service"]["claimProbes"] = Effect.fn("DeliveryQueue.claimProbes")(function* (
        most
      ) {
        return yield* requestable((yield* claims.probes(most)).map(apart))
      }, Bugs.die)

      return DeliveryQueue.of({
        waiting: claims.waitingWebhooks,
        claim,
        claimProbes,
        requestable,
        requestableNow,
        settle,
        giveBack: Effect.fn("DeliveryQueue.giveBack")(claims.giveBack),
        holdUnserved: Effect.asVoid(Effect.repeat(claims.holdUnserved, untilHeld)),
        oldestDueSeconds: claims.oldestDueSeconds
      })
    })
  ).pipe(Layer.provide(OpenedSecrets.layer))
}

const makeSettle = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const next = yield* NextAttempt.make
  const write = yield* Settlements.make

  /** News about a webhook are written apart, after its outcome. The next outcome makes up for news that were lost. */
  const settle: DeliveryQueue["Service"]["settle"] = (lease, outcome, requestedAt) => {
    const { url, webhookId } = lease
    if (outcome.error === null) {
      return Effect.flatMap(
        write({ lease, requestedAt, outcome, askedSeconds: 0, status: "delivered", waitSeconds: 0 }),
        (isNews) => (isNews ? Pausing.succeeded(sql, webhookId) : Effect.void)
      )
    }
    const error = outcome.error.replaceAll("\0", "").slice(0, errorCharacters)
    return Effect.gen(function* () {
      const { asked, status, wait } = yield* next(lease.attemptOfBudget, outcome)
      const isNews = yield* write({
        lease,
        requestedAt,
        outcome: { ...outcome, error },
        askedSeconds: Duration.toSeconds(asked),
        status,
        waitSeconds: Duration.toSeconds(wait)
      })
      if (isNews) yield* Pausing.failed(sql, { webhookId, url, wait: asked })
    })
  }
  return settle
})

/** Copies a claimed payload. The driver's bytes are a view of all that it read with them, such as payloads of others. */
const apart = (row: Lease.SealedDelivery): Lease.SealedDelivery => ({ ...row, payload: new Uint8Array(row.payload) })

const withSecrets = (row: Lease.SealedDelivery, secrets: SigningSecrets): Lease.LeasedDelivery => ({
  ...Lease.of(row),
  // Copied, as the payload of a claim is.
  credentials: row.credentials && new Uint8Array(row.credentials),
  workspaceId: row.workspaceId,
  payload: row.payload,
  secrets
})

const makeRequestable = Effect.fnUntraced(function* (settle: DeliveryQueue["Service"]["settle"]) {
  const secrets = yield* OpenedSecrets
  const withoutLost = yield* LostWorkers.make

  const requestableNow: DeliveryQueue["Service"]["requestableNow"] = (row) => {
    const known = secrets.known(row)
    return known === undefined ? undefined : withSecrets(row, known)
  }

  /** Prepares the leased deliveries that can be requested. One failure must not block the others. */
  const requestable = Effect.fnUntraced(function* (rows: ReadonlyArray<Lease.SealedDelivery>) {
    const found = yield* Effect.forEach(
      yield* withoutLost(rows),
      Effect.fnUntraced(function* (row) {
        const lease = Lease.of(row)
        const opened = yield* Effect.exit(secrets.open(row))
        if (Exit.isFailure(opened)) {
          yield* Effect.logError("The signing secret of a workspace could not be decrypted", opened.cause)
          const requestedAt = yield* Clock.currentTimeMillis
          yield* settle(lease, failed(FailureReason.unreadableSecret), requestedAt)
          return []
        }
        return [withSecrets(row, opened.value)]
      })
    )
    return found.flat()
  })

  return { requestable, requestableNow }
})
