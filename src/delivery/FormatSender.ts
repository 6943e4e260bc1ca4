import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as NodeBuffer from "../mime/NodeBuffer.ts"
import type { InboundEvent } from "../model/InboundEvent.ts"
import * as Settings from "../Settings.ts"
import * as FailureReason from "./FailureReason.ts"
import * as BasicAuth from "./formats/BasicAuth.ts"
import { CarriedMails, type MailGone, MailUnready } from "./formats/CarriedMails.ts"
import * as FormatAttempt from "./formats/FormatAttempt.ts"
import { SealedCredentials } from "./formats/SealedCredentials.ts"
import type { Recipe, Stamp } from "./formats/WebhookFormat.ts"
import { WebhookFormats } from "./formats/WebhookFormats.ts"
import type { LeasedDelivery } from "./Lease.ts"
import * as RequestMemory from "./RequestMemory.ts"
import { failed, type Outcome, WebhookSender } from "./WebhookSender.ts"

/** The longest time until the raw message and its parts are loaded, memory included, within the lease of the delivery. */
const longestLoad = "20 seconds"

/** Maximum bytes of a request body: a multiple of the largest message, plus a fixed part. */
const mostOfMessage = 8
const mostBesides = 1024 * 1024

/** Makes webhook requests in other formats than Inlet's own. */
export class FormatSender extends Context.Service<
  FormatSender,
  {
    /**
     * Makes one request. Succeeds with any outcome. Fails with Crowded if there was no memory for it in time.
     * Interruption cancels the request.
     */
    send(delivery: LeasedDelivery): Effect.Effect<Outcome, RequestMemory.Crowded>
  }
>()("inlet/delivery/FormatSender") {
  static readonly layer = Layer.effect(
    FormatSender,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(SealedCredentials.layer))
}

const make = Effect.gen(function* () {
  const sender = yield* WebhookSender
  const formats = yield* WebhookFormats
  const mails = yield* CarriedMails
  const credentials = yield* SealedCredentials
  const random = yield* SecureRandom.SecureRandom
  const open = yield* RequestMemory.make
  const { messageBytes } = yield* Settings.rawStore
  const mostBytes = mostOfMessage * messageBytes + mostBesides
  const late = new MailUnready({ message: FailureReason.unloaded })

  /** Loads what the recipe needs, and makes the request of it. */
  const requestOf = Effect.fnUntraced(function* (
    delivery: LeasedDelivery,
    recipe: Recipe,
    stamp: Stamp,
    memory: RequestMemory.RequestMemory
  ) {
    const { eventId, payload } = delivery
    // Rendered by EventPayload, which writes the fields of an event.
    const event = JSON.parse(NodeBuffer.view(payload).toString()) as InboundEvent
    const mail = { eventId, payload, event }
    if (recipe.needs === "event") return recipe.make(mail, stamp)
    const about = { ...delivery, event, payloadBytes: payload.byteLength }
    const loaded = mails.load(about, recipe.needs, memory.reserve)
    const carried = yield* Effect.timeoutOrElse(loaded, { duration: longestLoad, orElse: () => Effect.fail(late) })
    return recipe.make({ ...mail, ...carried, text: carried.text ?? event.text }, stamp)
  })

  const made = (...asked: Parameters<typeof requestOf>) =>
    requestOf(...asked).pipe(
      // A format's own bug costs the attempt only.
      Effect.catchDefect((defect) =>
        Effect.andThen(
          Effect.logError("A webhook format failed", defect),
          Effect.fail(new FormatAttempt.Unmade({ message: FailureReason.unmadeBy(asked[0].format) }))
        )
      ),
      Effect.filterOrFail(
        ({ body }) => body.byteLength <= mostBytes,
        ({ body }) =>
          new FormatAttempt.Unmade({
            message: FailureReason.tooLong(asked[0].format, body.byteLength, mostBytes)
          })
      )
    )

  const deliver = Effect.fnUntraced(function* (delivery: LeasedDelivery) {
    const format = formats.get(delivery.format)
    if (format === undefined) return failed(FailureReason.unknownFormat(delivery.format))
    const opened = yield* credentials.open(delivery.credentials, delivery.webhookId)
    const { attempt, secrets } = delivery
    const stamp = yield* FormatAttempt.stamp(random, { attempt, credentials: opened, secrets })
    const memory = yield* open(delivery)
    const request = yield* Effect.result(made(delivery, format.recipe(new URL(delivery.url), opened), stamp, memory))
    if (request._tag === "Failure") {
      return request.failure._tag === "Crowded" ? yield* request.failure : notSent(request.failure)
    }
    const { body, headers } = request.success
    // The message and its parts are no longer needed.
    memory.keep(body.byteLength)
    const outcome = yield* sender.send({
      ...delivery,
      payload: body,
      headers: { ...headers, ...BasicAuth.header(opened) }
    })
    const isFinal = outcome.isFinal || (outcome.statusCode !== null && format.final.has(outcome.statusCode))
    return { ...outcome, isFinal }
  })

  return FormatSender.of({ send: (delivery) => Effect.scoped(deliver(delivery)) })
})

const notSent = ({ _tag, message }: MailGone | MailUnready | FormatAttempt.Unmade): Outcome => ({
  ...failed(message),
  isFinal: _tag === "MailGone"
})
