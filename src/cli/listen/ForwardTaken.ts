import { Array, Clock, Console, DateTime, Duration, Effect, FiberSet, Option, Queue, Schedule, Semaphore } from "effect"
import type { SignedRequest } from "../../delivery/RequestSigner.ts"
import * as ErrorOrigin from "../../ErrorOrigin.ts"
import type { Settled } from "../../http/deliveries/DeliveriesApi.ts"
import type { DomainId } from "../../model/Domain.ts"
import type { EventId } from "../../model/InboundEvent.ts"
import { catchAllOf, type Webhook } from "../../model/Webhook.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Service from "../terminal/Service.ts"
import * as AppRequest from "./AppRequest.ts"

/** How long the service holds the request in seconds, and extra time for its answer. */
const held = 50
const patience = Duration.seconds(held + 15)

/** How long to retry reporting an outcome. A lease does not last longer. */
const settlingTime = Duration.minutes(2)

const longestWait = Duration.seconds(5)

export interface Options {
  readonly url: string
  readonly json: boolean
  readonly atOnce: number
  /** Only mail of this webhook. */
  readonly webhook?: Webhook | undefined
}

interface Delivery extends SignedRequest {
  readonly event_id: EventId
  readonly attempt: number
}

/** A posted delivery whose outcome is not reported yet. */
interface Made {
  readonly delivery: Delivery
  readonly outcome: AppRequest.Outcome
}

/** Turns pull delivery on for the domain if it is off. */
const begin = Effect.fnUntraced(function* (api: Service.Client, id: DomainId, webhook: Webhook | undefined) {
  if (webhook !== undefined && webhook.id !== catchAllOf(id)) {
    const { action, domain_id, pattern } = webhook
    if (action === "pull") return
    return yield* new CommandFailed({
      message: `The webhook ${pattern} has the action ${action}, so its mail does not wait for a lease: \`inlet webhooks update ${domain_id} ${webhook.id} --action pull\` changes that`
    })
  }
  const { domain, pull, webhookUrl } = yield* api.domains.get({ params: { id } })
  if (webhookUrl !== null) {
    return yield* new CommandFailed({
      message: `${domain} has a webhook, and its mail goes there. Without --take the app gets copies; \`inlet domains webhook ${domain} --none\` takes the webhook away`
    })
  }
  if (pull) return
  yield* api.domains.delivery({ params: { id }, payload: { pull: true } })
  yield* Console.error(
    `New mail of ${domain} waits for a lease from now on; \`inlet domains pull ${domain} --off\` holds it again`
  )
})

/** The output for a reported delivery. */
const nextOf = Effect.fnUntraced(function* (settled: Settled | undefined) {
  if (settled === undefined) return { says: "the service could not be told: it comes again" }
  if (settled.delivery === null) return { says: "its lease was over: it comes again" }
  const { nextAttemptAt, status } = settled.delivery
  if (status === "dead") return { says: "given up; `inlet replay` sends it again" }
  if (nextAttemptAt === null) return {}
  const retryMs = Math.max(0, DateTime.toEpochMillis(nextAttemptAt) - (yield* Clock.currentTimeMillis))
  return { says: `again in ${Duration.format(Duration.seconds(Math.ceil(retryMs / 1_000)))}`, retryMs }
})

/**
 * Makes the deliveries of a domain with `pull`: leases due deliveries, posts them to an app, and reports the outcomes.
 */
export const run = Effect.fnUntraced(function* (api: Service.Client, id: DomainId, options: Options) {
  const { atOnce, json, url } = options
  yield* begin(api, id, options.webhook)
  yield* Console.error(`Deliveries go to ${url}. Ctrl-C stops when those under way have ended`)
  let lost = 0

  const ofWebhook = options.webhook === undefined ? {} : { webhook_id: options.webhook.id }
  const lease = (limit: number) =>
    api.deliveries.lease({ params: { id }, payload: { limit, wait: held, ...ofWebhook } }).pipe(
      Effect.timeout(patience),
      Effect.tap(() => (lost > 0 ? Console.error("Connected again") : Effect.void)),
      Effect.tap(() =>
        Effect.sync(() => {
          lost = 0
        })
      ),
      Effect.map(({ deliveries }): ReadonlyArray<Delivery> => deliveries),
      Effect.catchIf(Service.isTemporary, (error) =>
        Effect.gen(function* () {
          lost++
          if (lost === 1) yield* Console.error(`Not connected: ${ErrorOrigin.messageOf(error)}. It is tried again`)
          yield* Effect.sleep(Duration.min(AppRequest.backoff(lost), longestWait))
          return []
        })
      )
    )

  const settle = Effect.fnUntraced(function* (made: ReadonlyArray<Made>) {
    const outcomes = made.map(({ delivery: { attempt, event_id }, outcome: { error, statusCode, ...rest } }) => ({
      event_id,
      attempt,
      ...rest,
      ...(statusCode === null ? { error: (error ?? "no answer").slice(0, 1_000) } : { statusCode })
    }))
    const answer = yield* api.deliveries
      .settle({ params: { id }, payload: { outcomes } })
      .pipe(
        Effect.retry({ while: Service.isTemporary, schedule: Schedule.spaced("500 millis") }),
        Effect.timeoutOption(settlingTime)
      )
    const settled = new Map(
      Option.match(answer, {
        onNone: () => [],
        onSome: ({ outcomes }) => outcomes.map((outcome) => [outcome.event_id, outcome])
      })
    )
    yield* Effect.forEach(made, ({ delivery: { attempt, body, event_id }, outcome }) =>
      Effect.flatMap(nextOf(settled.get(event_id)), (next) =>
        AppRequest.tell(json, body, outcome, { ...next, attempt })
      )
    )
  })

  const answered = new Set<Made>()
  const settling = yield* Semaphore.make(1)

  /** Reports all finished deliveries together, and attempts of the same event one at a time. */
  const settleWith = (own: Made) =>
    Effect.suspend(() => {
      if (!answered.has(own)) return Effect.void
      const made = [...new Map([...answered].map((one) => [one.delivery.event_id, one])).values()]
      for (const one of made) answered.delete(one)
      return settle(made)
    })

  /**
   * A slot is taken before the lease and freed after the report, so that no more deliveries are leased than are
   * posted at once.
   */
  const places = yield* Queue.unbounded<null>()
  yield* Queue.offerAll(places, Array.replicate(null, atOnce))

  const make = Effect.fnUntraced(function* (delivery: Delivery) {
    const made = { delivery, outcome: yield* AppRequest.post(url, delivery) }
    answered.add(made)
    while (answered.has(made)) yield* settling.withPermit(settleWith(made))
    yield* Queue.offer(places, null)
  }, Effect.uninterruptible)

  // A stop waits for running requests.
  const underWay = yield* FiberSet.make<void, Effect.Error<ReturnType<typeof make>>>()

  const takeNext = Effect.uninterruptibleMask(
    Effect.fnUntraced(function* (restore) {
      const free = yield* restore(Queue.takeAll(places))
      const deliveries = yield* restore(lease(free.length))
      yield* Queue.offerAll(places, free.slice(deliveries.length))
      yield* Effect.forEach(deliveries, (delivery) => FiberSet.run(underWay, make(delivery)), { discard: true })
    })
  )

  return yield* Effect.raceFirst(Effect.forever(takeNext), Effect.andThen(FiberSet.join(underWay), Effect.never))
}, Effect.scoped)
