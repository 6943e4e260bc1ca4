import { Clock, Console, DateTime, Duration, Effect, Option, Queue, Schedule } from "effect"
import type { SignedRequest } from "../delivery/RequestSigner.ts"
import type { Settled } from "../http/DeliveriesApi.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import * as AppRequest from "./AppRequest.ts"
import { CommandFailed } from "./CommandFailed.ts"
import type * as Service from "./Service.ts"

/** How long the service holds the question, in seconds, and how long it may take beyond that. */
const held = 50
const patience = Duration.seconds(held + 15)

/** How long a service that is gone is told an outcome: a lease does not last longer. */
const settlingTime = Duration.minutes(2)

const longestWait = Duration.seconds(5)

export interface Options {
  readonly url: string
  readonly json: boolean
  readonly atOnce: number
}

interface Delivery extends SignedRequest {
  readonly event_id: EventId
  readonly attempt: number
}

/** What passes: too much at once, a service that starts anew. */
const passes = ({ _tag }: { readonly _tag: string }) =>
  _tag === "TooManyRequests" || _tag === "Unavailable" || _tag === "HttpClientError" || _tag === "TimeoutError"

/** The domain's mail is to be asked for; where it is held so far, that is changed. */
const begin = Effect.fnUntraced(function* (api: Service.Client, id: DomainId) {
  const { domain, pull, webhookUrl } = yield* api.domains.get({ params: { id } })
  if (webhookUrl !== null) {
    return yield* new CommandFailed({
      message: `${domain} has a webhook, and its mail goes there. Without --take the app gets copies; \`inlet domains webhook ${domain} --none\` takes the webhook away`
    })
  }
  if (pull) return
  yield* api.domains.delivery({ params: { id }, payload: { pull: true } })
  yield* Console.error(
    `New mail of ${domain} waits to be taken from now on; \`inlet domains pull ${domain} --off\` holds it again`
  )
})

/** What a person and a program are told of a delivery that was settled, or was not. */
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
 * Makes the deliveries of a domain whose mail is asked for: takes what is due, posts it to an app, and tells the service what
 * came back, which has it tried again or done with.
 */
export const run = Effect.fnUntraced(function* (api: Service.Client, id: DomainId, options: Options) {
  const { atOnce, json, url } = options
  yield* begin(api, id)
  yield* Console.error(`Deliveries go to ${url}. Ctrl-C stops when those under way have ended`)
  let lost = 0

  const lease = api.deliveries.lease({ params: { id }, payload: { limit: atOnce, wait: held } }).pipe(
    Effect.timeout(patience),
    Effect.tap(() => (lost > 0 ? Console.error("Connected again") : Effect.void)),
    Effect.tap(() =>
      Effect.sync(() => {
        lost = 0
      })
    ),
    Effect.map(({ deliveries }): ReadonlyArray<Delivery> => deliveries),
    Effect.catchIf(passes, (error) =>
      Effect.gen(function* () {
        lost++
        if (lost === 1) yield* Console.error(`Not connected: ${AppRequest.innermost(error)}. It is tried again`)
        yield* Effect.sleep(Duration.min(AppRequest.backoff(lost), longestWait))
        return []
      })
    )
  )

  const settle = Effect.fnUntraced(function* (
    made: ReadonlyArray<{ readonly delivery: Delivery; readonly outcome: AppRequest.Outcome }>
  ) {
    const outcomes = made.map(({ delivery: { attempt, event_id }, outcome: { error, statusCode, ...rest } }) => ({
      event_id,
      attempt,
      ...rest,
      ...(statusCode === null ? { error: (error ?? "no answer").slice(0, 1_000) } : { statusCode })
    }))
    const answer = yield* api.deliveries
      .settle({ params: { id }, payload: { outcomes } })
      .pipe(
        Effect.retry({ while: passes, schedule: Schedule.spaced("500 millis") }),
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

  /** Posts all of them at the same time, and tells of each as soon as it is answered, of those together that are. */
  const make = Effect.fnUntraced(function* (deliveries: ReadonlyArray<Delivery>) {
    const answered = yield* Queue.unbounded<Parameters<typeof settle>[0][number]>()
    const posts = Effect.forEach(
      deliveries,
      (delivery) =>
        Effect.flatMap(AppRequest.post(url, delivery), (outcome) => Queue.offer(answered, { delivery, outcome })),
      { concurrency: "unbounded", discard: true }
    )
    const telling = Effect.gen(function* () {
      for (let left = deliveries.length; left > 0; ) {
        const made = yield* Queue.takeBetween(answered, 1, left)
        left -= made.length
        yield* settle(made)
      }
    })
    yield* Effect.all([posts, telling], { concurrency: 2, discard: true })
  })

  return yield* Effect.forever(Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(lease), make)))
})
