import { DateTime, Effect, FiberSet, Latch, Layer, Metric, Semaphore } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { DomainId } from "../model/Domain.ts"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { DeliveryQueue, unasked } from "./DeliveryQueue.ts"
import { EventFeed } from "./EventFeed.ts"
import { Handover } from "./Handover.ts"
import type { LeasedDelivery, SealedDelivery } from "./Lease.ts"
import { WebhookSender } from "./WebhookSender.ts"

/** Most deliveries one claim takes, each with its payload. */
const mostPerClaim = 64

/**
 * Deliveries that are leased, in turns of requests: one under way, and two that wait
 * for it. A webhook that answers nothing holds the last of them for three time-outs,
 * which is less than their lease by the default of 15 seconds.
 */
const turns = 3

/** How often paused webhooks are looked for that are to be tried. */
const probesEvery = "5 seconds"

const attempts = Metric.counter("inlet_delivery_attempts_total", { description: "Webhook requests by outcome" })
const attemptsBy = {
  delivered: Metric.withAttributes(attempts, { outcome: "delivered" }),
  no_answer: Metric.withAttributes(attempts, { outcome: "no_answer" }),
  refused: Metric.withAttributes(attempts, { outcome: "refused" })
}
const durations = Metric.histogram("inlet_delivery_seconds", {
  description: "Time from the webhook request to its outcome",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
})

/**
 * A domain's part of this process: requests, outcomes that are being written down, leased
 * deliveries that wait for a request, places for deliveries to come.
 */
interface Line {
  running: number
  settling: number
  reserved: number
  readonly held: Array<LeasedDelivery>
}

/**
 * Makes due deliveries for as long as the process runs, and takes over those that
 * the process itself writes. Stopping gives back the waiting ones, lets requests
 * finish, then gives back the rest.
 */
export const layer = Layer.effect(
  Handover,
  Effect.gen(function* () {
    const queue = yield* DeliveryQueue
    const sender = yield* WebhookSender
    const feed = yield* EventFeed
    const { concurrency, concurrencyPerDomain } = yield* Settings.webhooks
    const mostOfDomain = concurrencyPerDomain * turns
    const mostInAll = concurrency * turns

    const requests = yield* FiberSet.make<void>()
    const fork = yield* FiberSet.runtime(requests)()
    const lines = new Map<DomainId, Line>()
    /** Domains whose older deliveries may still be in the table. */
    const limited = new Set<DomainId>()
    let running = 0
    /** The size of all lines together. */
    let taken = 0
    /** The last claim found no room in all. */
    let isFull = false
    let isStopping = false
    const dueSoon = yield* Latch.make(false)
    // One claim at a time knows how much room there is.
    const claiming = yield* Semaphore.make(1)

    const lineOf = (domainId: DomainId): Line => {
      const known = lines.get(domainId)
      if (known !== undefined) return known
      const line: Line = { running: 0, settling: 0, reserved: 0, held: [] }
      lines.set(domainId, line)
      return line
    }
    const sizeOf = ({ held, reserved, running, settling }: Line) => running + settling + reserved + held.length
    const forgetEmpty = (domainId: DomainId, line: Line) => {
      if (sizeOf(line) === 0) lines.delete(domainId)
    }

    const deliver = Effect.fn("DeliveryWorker.deliver")(function* (claimed: LeasedDelivery, onAnswer: () => void) {
      const requestedAt = yield* DateTime.now
      const outcome = yield* sender.send(claimed).pipe(
        // A request that can't be made is a failure like any other: tried again by the schedule, and dead in the end.
        Effect.catchDefect((defect) =>
          Effect.as(
            Effect.logError("A webhook request could not be made", defect),
            unasked("the request could not be made")
          )
        )
      )
      // Another request need not wait for this one to be written down.
      onAnswer()
      const label = outcome.error === null ? "delivered" : outcome.statusCode === null ? "no_answer" : "refused"
      yield* Metric.update(attemptsBy[label], 1)
      yield* Metric.update(durations, outcome.durationMs / 1_000)
      yield* queue.settle(claimed, outcome, requestedAt)
      yield* outcome.error === null
        ? Effect.logDebug("Delivered")
        : Effect.logInfo("A delivery attempt failed", outcome.error)
    })

    const attempt = (claimed: LeasedDelivery) => {
      let isAnswered = false
      const onAnswer = () => {
        isAnswered = true
        answered(claimed.domainId)
      }
      return deliver(claimed, onAnswer).pipe(
        Effect.onInterrupt(() => Effect.ignore(queue.giveBack([claimed]))),
        // Not settled: the lease runs out, and the attempt is made again.
        Effect.catchCause((cause) =>
          Effect.logError("The outcome of a delivery attempt could not be written down", cause)
        ),
        Effect.ensuring(
          Effect.sync(() => {
            if (!isAnswered) onAnswer()
            settled(claimed.domainId)
          })
        ),
        Effect.annotateLogs({ event_id: claimed.eventId, domain_id: claimed.domainId, attempt: claimed.attempt })
      )
    }

    /** Begins what is held and has room, domain by domain in turn. */
    const beginHeld = (domainId: DomainId, line: Line) => {
      while (running < concurrency && line.running < concurrencyPerDomain) {
        const next = line.held.shift()
        if (next === undefined) return
        line.running++
        running++
        fork(attempt(next))
      }
      // Another domain's turn comes first the next time.
      if (line.held.length > 0 && line.running < concurrencyPerDomain) {
        lines.delete(domainId)
        lines.set(domainId, line)
      }
    }

    const answered = (domainId: DomainId) => {
      const line = lineOf(domainId)
      line.running--
      line.settling++
      running--
      beginHeld(domainId, line)
      if (running < concurrency) {
        for (const [other, otherLine] of [...lines]) {
          if (running >= concurrency) break
          if (otherLine.held.length > 0) beginHeld(other, otherLine)
        }
      }
    }

    const settled = (domainId: DomainId) => {
      const line = lineOf(domainId)
      line.settling--
      taken--
      // Most of the line has gone: the table may hold more of it.
      const wasLimited = limited.has(domainId) && sizeOf(line) <= concurrencyPerDomain
      if (wasLimited || (isFull && taken <= concurrency)) dueSoon.openUnsafe()
      forgetEmpty(domainId, line)
    }

    const hold = (claimed: ReadonlyArray<LeasedDelivery>) => {
      taken += claimed.length
      for (const delivery of claimed) lineOf(delivery.domainId).held.push(delivery)
      for (const domainId of new Set(claimed.map(({ domainId }) => domainId))) beginHeld(domainId, lineOf(domainId))
    }

    /** Returns whether there may be more. Not to be interrupted between claiming and beginning. */
    const claimAndHold = (claim: (most: number) => Effect.Effect<ReadonlyArray<LeasedDelivery>, SqlError>) =>
      Effect.gen(function* () {
        if (isStopping) return false
        const most = Math.min(mostPerClaim, mostInAll - taken)
        isFull = most <= 0
        if (isFull) return false
        const room = new Map([...lines].map(([domainId, line]) => [domainId, mostOfDomain - sizeOf(line)]))
        const claimed = yield* claim(most)
        for (const [domainId, own] of Map.groupBy(claimed, ({ domainId }) => domainId)) {
          if (own.length >= (room.get(domainId) ?? mostOfDomain)) limited.add(domainId)
        }
        hold(claimed)
        return claimed.length === most
      }).pipe(claiming.withPermits(1), Effect.uninterruptible)

    const round = Effect.gen(function* () {
      yield* dueSoon.close
      const more = yield* claimAndHold((most) => {
        const busy = new Map([...lines].map(([domainId, line]) => [domainId, sizeOf(line)]))
        // The claim has room for these: they are behind only if it fills them again.
        for (const domainId of [...limited]) {
          if ((busy.get(domainId) ?? 0) < mostOfDomain) limited.delete(domainId)
        }
        return queue.claim({ most, perDomain: mostOfDomain, busy })
      })
      // An announcement or a free place ends the wait; what falls due by itself is found after a second.
      if (!more) yield* Effect.timeoutOption(dueSoon.await, "1 second")
    })

    const drain = Effect.suspend(() => {
      isStopping = true
      const held = [...lines.values()].flatMap((line) => line.held.splice(0))
      taken -= held.length
      return Effect.ignore(queue.giveBack(held))
    }).pipe(Effect.andThen(Effect.ignore(Effect.timeoutOption(FiberSet.awaitEmpty(requests), "20 seconds"))))

    /** The table has more of the domain, and its line is still long. */
    const isBusy = (domainId: DomainId) => {
      const line = limited.has(domainId) ? lines.get(domainId) : undefined
      return line !== undefined && sizeOf(line) > concurrencyPerDomain
    }

    /** Places for a domain whose older deliveries are all here: those in the table go first. */
    const reserve = (domainId: DomainId, most: number): number => {
      if (isStopping || limited.has(domainId)) return 0
      const line = lineOf(domainId)
      const places = Math.max(0, Math.min(most, mostOfDomain - sizeOf(line), mostInAll - taken))
      line.reserved += places
      taken += places
      // A delivery without a place is for a claim.
      if (places < most) limited.add(domainId)
      forgetEmpty(domainId, line)
      return places
    }

    const release = (domainId: DomainId, places: number) => {
      const line = lineOf(domainId)
      line.reserved -= places
      taken -= places
      forgetEmpty(domainId, line)
    }

    const begin = (leased: ReadonlyArray<SealedDelivery>) =>
      Effect.flatMap(queue.requestable(leased), (claimed) => {
        if (isStopping) return queue.giveBack(claimed)
        hold(claimed)
        return Effect.void
      }).pipe(
        // They are written: their leases run out, and then they are claimed.
        Effect.catchCause((cause) => Effect.logError("Deliveries could not be begun; they are tried again", cause))
      )

    const within: Handover["Service"]["within"] = (domainId, most, write) =>
      Effect.suspend(() => {
        const places = reserve(domainId, most)
        if (places === 0) return write(0)
        // Not to be interrupted between the commit and the beginning.
        return Effect.uninterruptibleMask((restore) =>
          restore(write(places)).pipe(
            Effect.tap(({ leased }) => begin(leased)),
            Effect.ensuring(Effect.sync(() => release(domainId, places)))
          )
        )
      })

    // On shutdown claiming stops first, then requests get their time, then they are given back.
    yield* Effect.addFinalizer(() => (isStopping ? Effect.void : drain))
    yield* feed.listen(({ domainId, isDue }) => {
      if (isDue && !isBusy(domainId)) dueSoon.openUnsafe()
    })
    yield* BackgroundLoop.every(probesEvery, "Looking for paused webhooks failed", claimAndHold(queue.claimProbes))
    yield* BackgroundLoop.endless("Looking for due deliveries failed", round)

    return Handover.of({ within, drain })
  })
)
