import { DateTime, Effect, FiberSet, Latch, Layer, Metric, Schedule, Semaphore, Stream } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { DomainId } from "../model/Domain.ts"
import { EventFeed } from "../reading/EventFeed.ts"
import * as Settings from "../Settings.ts"
import { type Claimed, DeliveryQueue, unasked } from "./DeliveryQueue.ts"
import { WebhookSender } from "./WebhookSender.ts"

/** Most deliveries one claim takes, each with its payload. */
const mostPerClaim = 64

/** How often paused webhooks are looked for that are to be tried. */
const probesEvery = "5 seconds"

const attempts = Metric.counter("inlet_delivery_attempts_total", { description: "Webhook requests by outcome" })
const durations = Metric.histogram("inlet_delivery_seconds", {
  description: "Time from the webhook request to its outcome",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
})

/** Delivers what is due for as long as the process runs. Stopping lets requests finish, then gives back the rest. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const queue = yield* DeliveryQueue
    const sender = yield* WebhookSender
    const feed = yield* EventFeed
    const { concurrency, concurrencyPerDomain } = yield* Settings.webhooks

    const requests = yield* FiberSet.make<void>()
    const busy = new Map<DomainId, number>()
    /** Domains of which a claim took as much as there was room for: there may be more. */
    const limited = new Set<DomainId>()
    let inFlight = 0
    const dueSoon = yield* Latch.make(false)
    // One claim at a time knows how much room there is.
    const claiming = yield* Semaphore.make(1)

    const deliver = Effect.fn("DeliveryWorker.deliver")(function* (claimed: Claimed) {
      const requestedAt = yield* DateTime.now
      const outcome = yield* sender.send(claimed).pipe(
        // What can't be asked for is a failure like any other: tried again by the schedule, and dead in the end.
        Effect.catchDefect((defect) =>
          Effect.as(
            Effect.logError("A webhook request could not be made", defect),
            unasked("the request could not be made")
          )
        )
      )
      const label = outcome.error === null ? "delivered" : outcome.statusCode === null ? "no_answer" : "refused"
      yield* Metric.update(Metric.withAttributes(attempts, { outcome: label }), 1)
      yield* Metric.update(durations, outcome.durationMs / 1_000)
      yield* queue.settle(claimed, outcome, requestedAt)
      yield* outcome.error === null
        ? Effect.logDebug("Delivered")
        : Effect.logInfo("A delivery attempt failed", outcome.error)
    })

    const begin = (claimed: Claimed) => {
      busy.set(claimed.domainId, (busy.get(claimed.domainId) ?? 0) + 1)
      inFlight++
    }

    const end = (claimed: Claimed) =>
      Effect.suspend(() => {
        const before = busy.get(claimed.domainId) ?? 1
        const wasFull = limited.delete(claimed.domainId) || before >= concurrencyPerDomain || inFlight >= concurrency
        if (before === 1) busy.delete(claimed.domainId)
        else busy.set(claimed.domainId, before - 1)
        inFlight--
        // Room where there was none: more may have been waiting for it.
        return wasFull ? dueSoon.open : Effect.void
      })

    const attempt = (claimed: Claimed) =>
      deliver(claimed).pipe(
        Effect.onInterrupt(() => Effect.ignore(queue.giveBack(claimed))),
        // Not settled: the lease runs out, and the attempt is made again.
        Effect.catchCause((cause) =>
          Effect.logError("The outcome of a delivery attempt could not be written down", cause)
        ),
        Effect.ensuring(end(claimed)),
        Effect.annotateLogs({ event_id: claimed.eventId, domain_id: claimed.domainId, attempt: claimed.attempt })
      )

    /** Returns whether there may be more. Not to be interrupted between claiming and beginning. */
    const claimAndBegin = (claim: (most: number) => Effect.Effect<ReadonlyArray<Claimed>, SqlError>) =>
      Effect.gen(function* () {
        const most = Math.min(mostPerClaim, concurrency - inFlight)
        if (most <= 0) return false
        const before = new Map(busy)
        const claimed = yield* claim(most)
        for (const [domainId, own] of Map.groupBy(claimed, ({ domainId }) => domainId)) {
          if (own.length + (before.get(domainId) ?? 0) >= concurrencyPerDomain) limited.add(domainId)
        }
        for (const delivery of claimed) {
          begin(delivery)
          yield* FiberSet.run(requests, Effect.interruptible(attempt(delivery)))
        }
        return claimed.length === most
      }).pipe(claiming.withPermits(1), Effect.uninterruptible)

    const round = Effect.gen(function* () {
      yield* dueSoon.close
      const more = yield* claimAndBegin((most) => queue.claim({ most, perDomain: concurrencyPerDomain, busy }))
      // An announcement or a free place ends the wait; what falls due by itself is found after a second.
      if (!more) yield* Effect.timeoutOption(dueSoon.await, "1 second")
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(Effect.logError("Looking for due deliveries failed", cause), Effect.sleep("1 second"))
      )
    )

    const probes = claimAndBegin(queue.claimProbes).pipe(
      Effect.catchCause((cause) => Effect.logError("Looking for paused webhooks failed", cause))
    )

    // In this order, so that on shutdown claiming stops first, then requests get their time, then they are given back.
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeoutOption(FiberSet.awaitEmpty(requests), "20 seconds")))
    yield* Effect.forkScoped(Stream.runForEach(feed.announcements, () => dueSoon.open))
    yield* Effect.forkScoped(Effect.repeat(probes, Schedule.spaced(probesEvery)))
    yield* Effect.forkScoped(Effect.forever(round))
  })
)
