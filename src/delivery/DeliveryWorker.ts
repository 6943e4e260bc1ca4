import { Clock, type Context, Duration, Effect, Fiber, FiberSet, Latch, Layer, Metric, Option, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import * as FailureLog from "../database/FailureLog.ts"
import { plainFormat } from "../model/Webhook.ts"
import * as Shutdown from "../process/Shutdown.ts"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { DueWork, type IsDue } from "../schedule/DueWork.ts"
import { DeliveryLines } from "./DeliveryLines.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"
import * as DeliveryRows from "./DeliveryRows.ts"
import { EventFeed } from "./EventFeed.ts"
import * as FailureReason from "./FailureReason.ts"
import { FormatSender } from "./FormatSender.ts"
import { Handover } from "./Handover.ts"
import type { LeasedDelivery, SealedDelivery } from "./Lease.ts"
import * as Lease from "./Lease.ts"
import * as StoredOutcome from "./StoredOutcome.ts"
import { failed, WebhookSender } from "./WebhookSender.ts"

/** Share of the timeout after which a request counts as hung, whatever the answer. */
const nearlyAll = 0.9

/** Maximum deliveries per claim, payloads included. */
const mostPerClaim = 64

/** Pause after a claim, as a multiple of its duration, to leave the database to others. */
const restsFor = 3
const longestRest = Duration.millis(300)

/** Interval of looking for paused webhooks to probe. */
const probesEvery = "5 seconds"

/** Interval of holding deliveries that the removal of their webhook left. */
const holdsEvery = "15 seconds"

const requests = Metric.counter("inlet_delivery_attempts_total", { description: "Webhook requests by outcome" })
const attemptsBy = {
  delivered: Metric.withAttributes(requests, { outcome: "delivered" }),
  no_answer: Metric.withAttributes(requests, { outcome: "no_answer" }),
  refused: Metric.withAttributes(requests, { outcome: "refused" })
}
const durations = Metric.histogram("inlet_delivery_seconds", {
  description: "Time from the webhook request to its outcome",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
})

/** A delivery with an open request. */
interface Attempt {
  readonly delivery: LeasedDelivery
  fiber: Fiber.Fiber<void> | undefined
}

/** What the worker of a process has. */
interface Worker {
  readonly queue: DeliveryQueue["Service"]
  readonly sender: WebhookSender["Service"]
  readonly formats: FormatSender["Service"]
  readonly clock: Clock.Clock
  readonly leaseTime: Duration.Duration
  readonly context: Context.Context<never>
  readonly fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly lines: DeliveryLines<LeasedDelivery>
  readonly attempts: Set<Attempt>
  /** Open when a claim may find deliveries. */
  readonly dueSoon: Latch.Latch
  /** True if a delivery was pending at the last look. */
  readonly isAnyPending: IsDue
  readonly isAnyProbeDue: IsDue
  /** Open after a stop, once all outcomes are stored. */
  readonly drained: Latch.Latch
  /** Concurrent claims would take the same free slots. */
  readonly claiming: Semaphore.Semaphore
}

/** Other requests have the memory that this one needs. The format of most webhooks needs none. */
const crowded = Effect.succeed("crowded" as const)

/** Makes a request. An attempt without a possible request counts as failed, and is retried by the schedule. */
const request = ({ formats, sender }: Worker, delivery: LeasedDelivery) =>
  Effect.catchCause(
    Effect.suspend(() =>
      delivery.format === plainFormat
        ? sender.send(delivery)
        : Effect.catchTag(formats.send(delivery), "Crowded", () => crowded)
    ),
    (cause) =>
      Effect.logError("A webhook request could not be made", cause).pipe(
        Lease.inLogs(delivery),
        Effect.as(failed(FailureReason.unmade))
      )
  )

/** Returns a delivery whose request was not made, as if it had not been claimed. */
const giveBack = Effect.fnUntraced(function* ({ drained, lines, queue }: Worker, delivery: LeasedDelivery) {
  lines.answered(delivery, undefined, 0)
  // If this fails too, the lease expires.
  yield* Effect.ignore(queue.giveBack([delivery]))
  lines.settled(delivery.webhookId)
  if (lines.isStopped() && lines.underWay() === 0) yield* drained.open
})

/** Makes an attempt, from its request to the row of its outcome. */
const run = Effect.fnUntraced(function* (worker: Worker, attempt: Attempt) {
  const { attempts, clock, context, drained, lines } = worker
  const { delivery } = attempt
  const requestedAt = clock.currentTimeMillisUnsafe()
  const outcome = yield* request(worker, delivery)
  // The shutdown has released the delivery.
  if (!attempts.delete(attempt)) return
  if (outcome === "crowded") return yield* giveBack(worker, delivery)
  const label = outcome.error === null ? "delivered" : outcome.statusCode === null ? "no_answer" : "refused"
  attemptsBy[label].updateUnsafe(1, context)
  durations.updateUnsafe(outcome.durationMs / 1_000, context)
  // The next request of the webhook does not wait for this row.
  lines.answered(delivery, outcome.error === null, outcome.durationMs)
  yield* StoredOutcome.settle(worker, delivery, outcome, requestedAt)
  lines.settled(delivery.webhookId)
  if (lines.isStopped() && lines.underWay() === 0) yield* drained.open
})

const begin = (worker: Worker, delivery: LeasedDelivery) => {
  const attempt: Attempt = { delivery, fiber: undefined }
  worker.attempts.add(attempt)
  attempt.fiber = worker.fork(run(worker, attempt))
}

/** Claims due deliveries. Uninterruptible between claim and start. Returns true if another claim may follow at once. */
const claim = ({ claiming, lines, queue }: Worker) =>
  Effect.gen(function* () {
    const waiting = yield* queue.waiting
    const { admitted, isCut } = lines.admit(waiting, mostPerClaim)
    if (admitted.size === 0) return false
    const claimed = yield* queue
      .claim(admitted, lines.roomForBytes())
      .pipe(Effect.onError(() => Effect.sync(() => lines.take([], admitted))))
    if (lines.isStopped()) {
      yield* queue.giveBack(claimed)
      return false
    }
    return lines.take(claimed, admitted) || (isCut && claimed.length > 0)
  }).pipe(claiming.withPermits(1), Effect.uninterruptible)

const claimProbes = ({ claiming, isAnyProbeDue, lines, queue }: Worker) =>
  Effect.gen(function* () {
    const most = lines.roomForProbes(mostPerClaim)
    if (most === 0 || !(yield* isAnyProbeDue)) return
    const claimed = yield* queue.claimProbes(most)
    if (lines.isStopped()) yield* queue.giveBack(claimed)
    else lines.takeProbes(claimed)
  }).pipe(claiming.withPermits(1), Effect.uninterruptible)

const round = Effect.fnUntraced(function* (worker: Worker) {
  const { dueSoon, isAnyPending } = worker
  yield* dueSoon.close
  const [took, more] = yield* Effect.timed(claim(worker))
  if (more) return
  yield* Effect.sleep(Duration.min(Duration.times(took, restsFor), longestRest))
  // Woken by a notification or a free slot. Retries that become due are found by polling every second.
  yield* Effect.repeat(Effect.timeoutOption(dueSoon.await, "1 second"), {
    until: (woken) => (Option.isSome(woken) ? Effect.succeed(true) : isAnyPending)
  })
})

/** Stops claiming, waits up to 16 s for running requests, then releases the rest. */
const drain = Effect.fnUntraced(function* ({ attempts, drained, lines, queue }: Worker) {
  const held = lines.stop()
  if (lines.underWay() === 0) yield* drained.open
  yield* Effect.all([Effect.ignore(queue.giveBack(held)), Effect.timeoutOption(drained.await, Shutdown.grace)], {
    concurrency: 2
  })
  const late = [...attempts]
  attempts.clear()
  yield* Fiber.interruptAll(late.flatMap(({ fiber }) => fiber ?? []))
  yield* Effect.ignore(queue.giveBack(late.map(({ delivery }) => delivery)))
})

const beginSealed = ({ lines, queue }: Worker, leased: ReadonlyArray<SealedDelivery>) =>
  Effect.gen(function* () {
    if (lines.isStopped()) return yield* queue.giveBack(leased.map(Lease.of))
    const ready = yield* queue.requestable(leased)
    if (lines.isStopped()) return yield* queue.giveBack(ready)
    for (const delivery of ready) lines.fill(delivery)
    const begun = new Set(ready.map(({ eventId }) => eventId))
    for (const { eventId, webhookId } of leased) if (!begun.has(eventId)) lines.release(webhookId, 1)
  }).pipe(
    // The rows exist: their leases expire, and a worker claims them.
    Effect.catchCause((cause) => {
      for (const { webhookId } of leased) lines.release(webhookId, 1)
      return FailureLog.error("Deliveries could not be claimed. Inlet retries", cause)
    })
  )

/** Begins deliveries that were inserted as leased. */
const takeOver = (worker: Worker, leased: ReadonlyArray<SealedDelivery>) => {
  const { fork, lines, queue } = worker
  const others = leased.filter((row) => {
    const ready = lines.isStopped() ? undefined : queue.requestableNow(row)
    if (ready !== undefined) lines.fill(ready)
    return ready === undefined
  })
  // The event writer does not wait for the decryption of secrets.
  if (others.length > 0) fork(beginSealed(worker, others))
}

/** Alerts compare outcomes, also before the first of one. */
const beginCounts = Effect.forEach(Object.values(attemptsBy), (attempts) => Metric.update(attempts, 0), {
  discard: true
})

const make = Effect.fnUntraced(function* (fork: Worker["fork"]) {
  yield* beginCounts
  const queue = yield* DeliveryQueue
  const dueSoon = yield* Latch.make(false)
  const sql = yield* SqlClient.SqlClient
  const { watch } = yield* DueWork
  const { concurrency, concurrencyPerWebhook, timeout } = yield* Settings.webhooks
  const worker: Worker = {
    queue,
    sender: yield* WebhookSender,
    formats: yield* FormatSender,
    clock: yield* Clock.Clock,
    leaseTime: Duration.seconds(Lease.seconds(timeout)),
    context: yield* Effect.context(),
    fork,
    attempts: new Set(),
    dueSoon,
    isAnyPending: yield* watch(DeliveryRows.pendingOne(sql)),
    isAnyProbeDue: yield* watch(sql`SELECT true FROM webhooks WHERE probe_at <= now() LIMIT 1`),
    drained: yield* Latch.make(false),
    claiming: yield* Semaphore.make(1),
    lines: new DeliveryLines<LeasedDelivery>({
      concurrency,
      concurrencyPerWebhook,
      hangMillis: Duration.toMillis(timeout) * nearlyAll,
      leaseMillis: Lease.seconds(timeout) * 1_000,
      begin: (delivery) => begin(worker, delivery),
      giveBack: (deliveries) => void fork(Effect.ignore(queue.giveBack(deliveries))),
      wanting: () => void dueSoon.openUnsafe()
    })
  }
  return worker
})

/**
 * Posts due deliveries while the process runs, and those that the process itself writes. At the end it returns
 * waiting deliveries, lets requests finish, and then returns the rest. An attempt is one fiber, from its request to
 * the row of its outcome, without a span and a timer, which cost more than the fiber.
 */
export const layer = Layer.effect(
  Handover,
  Effect.gen(function* () {
    const feed = yield* EventFeed
    const forked = yield* FiberSet.make<void>()
    const worker = yield* make(yield* FiberSet.runtime(forked)())
    const { dueSoon, lines, queue } = worker

    // On shutdown: stop claiming, let requests finish, release the rest.
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        Effect.suspend(() => (lines.isStopped() ? Effect.void : drain(worker))),
        Effect.timeoutOption(FiberSet.awaitEmpty(forked), "5 seconds")
      )
    )
    yield* feed.listen(({ due }) => {
      if (due !== null && !lines.isBusy(due)) dueSoon.openUnsafe()
    })
    yield* BackgroundLoop.every(probesEvery, "Looking for paused webhooks failed", claimProbes(worker))
    yield* BackgroundLoop.every(holdsEvery, "Holding deliveries that nobody takes failed", queue.holdUnserved)
    yield* BackgroundLoop.endless("Looking for due deliveries failed", round(worker))

    return Handover.of({
      reserve: (webhookId, most) => Effect.sync(() => lines.reserve(webhookId, most)),
      release: (webhookId, places) => Effect.sync(() => lines.release(webhookId, places)),
      begin: (leased) => Effect.sync(() => takeOver(worker, leased)),
      drain: drain(worker)
    })
  })
)
