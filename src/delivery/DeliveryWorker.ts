import { Clock, Duration, Effect, Fiber, FiberSet, Latch, Layer, Metric, Semaphore } from "effect"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as DeliveryLines from "./DeliveryLines.ts"
import { DeliveryQueue, unasked } from "./DeliveryQueue.ts"
import { EventFeed } from "./EventFeed.ts"
import { Handover } from "./Handover.ts"
import type { LeasedDelivery, SealedDelivery } from "./Lease.ts"
import * as Lease from "./Lease.ts"
import { type Outcome, WebhookSender } from "./WebhookSender.ts"

/** Share of the timeout after which a request counts as hung, whatever the answer. */
const nearlyAll = 0.9

/** Maximum deliveries per claim, payloads included. */
const mostPerClaim = 64

/** Pause after a claim, as a multiple of its duration, to leave the database to others. */
const restsFor = 3
const longestRest = Duration.millis(300)

/** Interval of looking for paused webhooks to probe. */
const probesEvery = "5 seconds"

/** Interval of holding deliveries whose webhook was removed during their insert. */
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

/**
 * Posts due deliveries while the process runs, and those that the process itself writes. At the end it returns
 * waiting deliveries, lets requests finish, and then returns the rest. An attempt is one fiber, from its request to
 * the row of its outcome, without a span and a timer, which cost more than the fiber.
 */
export const layer = Layer.effect(
  Handover,
  Effect.gen(function* () {
    const queue = yield* DeliveryQueue
    const sender = yield* WebhookSender
    const feed = yield* EventFeed
    const clock = yield* Clock.Clock
    const context = yield* Effect.context()
    const { concurrency, concurrencyPerDomain, timeout } = yield* Settings.webhooks
    const forked = yield* FiberSet.make()
    const fork = yield* FiberSet.runtime(forked)()

    const attempts = new Set<Attempt>()
    const dueSoon = yield* Latch.make(false)
    const drained = yield* Latch.make(false)
    // Concurrent claims would take the same free slots.
    const claiming = yield* Semaphore.make(1)

    const about = ({ attempt, domainId, eventId }: LeasedDelivery) =>
      Effect.annotateLogs({ event_id: eventId, domain_id: domainId, attempt })

    /** An attempt without a possible request counts as failed, and is retried by the schedule. */
    const request = (delivery: LeasedDelivery) =>
      Effect.catchCause(
        Effect.suspend(() => sender.send(delivery)),
        (cause) =>
          Effect.logError("A webhook request could not be made", cause).pipe(
            about(delivery),
            Effect.as(unasked("the request could not be made"))
          )
      )

    const settle = (delivery: LeasedDelivery, outcome: Outcome, requestedAt: number) =>
      queue.settle(delivery, outcome, requestedAt).pipe(
        Effect.matchCauseEffect({
          // The lease expires, and the attempt is repeated.
          onFailure: (cause) =>
            Effect.logError("The outcome of a delivery attempt could not be stored", cause).pipe(about(delivery)),
          onSuccess: () =>
            outcome.error === null
              ? Effect.void
              : Effect.logInfo("A delivery attempt failed", outcome.error).pipe(about(delivery))
        })
      )

    const make = (attempt: Attempt) =>
      Effect.gen(function* () {
        const { delivery } = attempt
        const requestedAt = clock.currentTimeMillisUnsafe()
        const outcome = yield* request(delivery)
        // The shutdown has released the delivery.
        if (!attempts.delete(attempt)) return
        const label = outcome.error === null ? "delivered" : outcome.statusCode === null ? "no_answer" : "refused"
        attemptsBy[label].updateUnsafe(1, context)
        durations.updateUnsafe(outcome.durationMs / 1_000, context)
        // The next request of the domain does not wait for this row.
        lines.answered(delivery, outcome.error === null, outcome.durationMs)
        yield* settle(delivery, outcome, requestedAt)
        lines.settled(delivery.domainId)
        if (lines.isStopped() && lines.underWay() === 0) yield* drained.open
      })

    const begin = (delivery: LeasedDelivery) => {
      const attempt: Attempt = { delivery, fiber: undefined }
      attempts.add(attempt)
      attempt.fiber = fork(make(attempt))
    }

    const lines = DeliveryLines.make<LeasedDelivery>({
      concurrency,
      concurrencyPerDomain,
      hangMillis: Duration.toMillis(timeout) * nearlyAll,
      begin,
      giveBack: (deliveries) => void fork(Effect.ignore(queue.giveBack(deliveries))),
      wanting: () => void dueSoon.openUnsafe()
    })

    // Uninterruptible between claim and start.
    const claim = Effect.gen(function* () {
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

    const claimProbes = Effect.gen(function* () {
      const most = lines.roomForProbes(mostPerClaim)
      if (most === 0) return
      const claimed = yield* queue.claimProbes(most)
      if (lines.isStopped()) yield* queue.giveBack(claimed)
      else lines.takeProbes(claimed)
    }).pipe(claiming.withPermits(1), Effect.uninterruptible)

    const round = Effect.gen(function* () {
      yield* dueSoon.close
      const [took, more] = yield* Effect.timed(claim)
      if (more) return
      yield* Effect.sleep(Duration.min(Duration.times(took, restsFor), longestRest))
      // Woken by a notification or a free slot. Retries that become due are found by polling every second.
      yield* Effect.timeoutOption(dueSoon.await, "1 second")
    })

    const drain = Effect.gen(function* () {
      const held = lines.stop()
      if (lines.underWay() === 0) yield* drained.open
      yield* Effect.all([Effect.ignore(queue.giveBack(held)), Effect.timeoutOption(drained.await, "20 seconds")], {
        concurrency: 2
      })
      const late = [...attempts]
      attempts.clear()
      yield* Fiber.interruptAll(late.flatMap(({ fiber }) => fiber ?? []))
      yield* Effect.ignore(queue.giveBack(late.map(({ delivery }) => delivery)))
    })

    const beginSealed = (leased: ReadonlyArray<SealedDelivery>) =>
      Effect.gen(function* () {
        if (lines.isStopped()) return yield* queue.giveBack(leased.map(Lease.of))
        const ready = yield* queue.requestable(leased)
        if (lines.isStopped()) return yield* queue.giveBack(ready)
        ready.forEach(lines.fill)
        const begun = new Set(ready.map(({ eventId }) => eventId))
        for (const { domainId, eventId } of leased) if (!begun.has(eventId)) lines.release(domainId, 1)
      }).pipe(
        // The rows exist: their leases expire, and a worker claims them.
        Effect.catchCause((cause) => {
          for (const { domainId } of leased) lines.release(domainId, 1)
          return Effect.logError("Deliveries could not be claimed. Inlet retries", cause)
        })
      )

    const takeOver: Handover["Service"]["begin"] = (leased) =>
      Effect.sync(() => {
        const others = leased.filter((row) => {
          const ready = lines.isStopped() ? undefined : queue.requestableNow(row)
          if (ready !== undefined) lines.fill(ready)
          return ready === undefined
        })
        // The event writer does not wait for the decryption of secrets.
        if (others.length > 0) fork(beginSealed(others))
      })

    // On shutdown: stop claiming, let requests finish, release the rest.
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        lines.isStopped() ? Effect.void : drain,
        Effect.timeoutOption(FiberSet.awaitEmpty(forked), "5 seconds")
      )
    )
    yield* feed.listen(({ domainId, isDue }) => {
      if (isDue && !lines.isBusy(domainId)) dueSoon.openUnsafe()
    })
    yield* BackgroundLoop.every(probesEvery, "Looking for paused webhooks failed", claimProbes)
    yield* BackgroundLoop.every(
      holdsEvery,
      "Holding deliveries of domains without a webhook failed",
      queue.holdUnserved
    )
    yield* BackgroundLoop.endless("Looking for due deliveries failed", round)

    return Handover.of({
      reserve: (domainId, most) => Effect.sync(() => lines.reserve(domainId, most)),
      release: (domainId, places) => Effect.sync(() => lines.release(domainId, places)),
      begin: takeOver,
      drain
    })
  })
)
