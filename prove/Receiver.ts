import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { Webhook } from "standardwebhooks"
import { verify } from "../src/effect.ts"
import { type ReceivedRequest, WebhookReceiver } from "../test/WebhookReceiver.ts"

/** One event as received by a customer's server. */
export interface Heard {
  readonly eventId: string
  readonly marker: string
  readonly firstAt: number
  /** The number of requests. More than one is allowed. */
  requests: number
}

export interface Receiver {
  readonly url: string
  /** The web server, whose answers can be set. */
  readonly webhook: WebhookReceiver["Service"]
  /** Verifies signatures with this secret from now on. */
  trust(secret: Redacted.Redacted): Effect.Effect<void>
  readonly events: ReadonlyMap<string, Heard>
  /** Why requests failed verification. */
  readonly rejected: ReadonlyArray<string>
}

class Disbelieved extends Schema.TaggedError<Disbelieved>()("Disbelieved", { message: Schema.String }) {}

/** An independent library verifies it too. */
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

/** A customer's server that verifies and stores every request. */
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
