import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { Webhook } from "standardwebhooks"
import { verify } from "../src/effect.ts"
import { type ReceivedRequest, WebhookReceiver } from "../test/WebhookReceiver.ts"

/** One event, as a customer's server has it. */
export interface Heard {
  readonly eventId: string
  readonly marker: string
  readonly firstAt: number
  /** How often it came: more than once is allowed. */
  requests: number
}

export interface Receiver {
  readonly url: string
  /** The server behind it, which can be told what to answer. */
  readonly webhook: WebhookReceiver["Service"]
  /** From now on signatures are verified with this secret. */
  trust(secret: Redacted.Redacted): Effect.Effect<void>
  readonly events: ReadonlyMap<string, Heard>
  /** Why requests were not believed. */
  readonly rejected: ReadonlyArray<string>
}

class Disbelieved extends Schema.TaggedError<Disbelieved>()("Disbelieved", { message: Schema.String }) {}

/** Other people's library believes it, too. */
const standard = ({ body, headers }: ReceivedRequest, secret: string) =>
  Effect.try({
    try: () =>
      new Webhook(secret).verify(body, {
        "webhook-id": `${headers["webhook-id"]}`,
        "webhook-timestamp": `${headers["webhook-timestamp"]}`,
        "webhook-signature": `${headers["webhook-signature"]}`
      }),
    catch: (cause) => new Disbelieved({ message: `Standard Webhooks: ${String(cause)}` })
  })

/** A customer's server that verifies every request as it comes, and remembers what it heard. */
export const make = Effect.gen(function* () {
  const webhook = yield* WebhookReceiver.make
  const events = new Map<string, Heard>()
  const rejected: Array<string> = []
  let secret: Redacted.Redacted | undefined

  const hear = Effect.gen(function* () {
    const request = yield* webhook.within(1_000)
    if (Option.isNone(request) || secret === undefined) return
    const { body, headers } = request.value
    const event = yield* verify({ headers, rawBody: body, secret })
    yield* standard(request.value, Redacted.value(secret))
    const before = events.get(event.event_id)
    if (before !== undefined) before.requests++
    else {
      events.set(event.event_id, {
        eventId: event.event_id,
        marker: event.subject,
        firstAt: yield* Clock.currentTimeMillis,
        requests: 1
      })
    }
  }).pipe(Effect.catch((error) => Effect.sync(() => void rejected.push(error.message))))
  yield* Effect.forkScoped(Effect.forever(hear))

  const receiver: Receiver = {
    url: webhook.url,
    webhook,
    trust: (given) =>
      Effect.sync(() => {
        secret = given
      }),
    events,
    rejected
  }
  return receiver
})
