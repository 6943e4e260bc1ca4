import { Clock, Context, Effect, Layer } from "effect"
import type { EventId } from "../model/InboundEvent.ts"
import { version } from "../Version.ts"
import { Egress } from "./Egress.ts"
import { type SigningSecrets, WebhookSigner } from "./WebhookSigner.ts"

/** The outcome of one request. It never fails: no answer is an outcome too. */
export interface Outcome {
  readonly statusCode: number | null
  /** Why there was no answer, or which answer was not 2xx. */
  readonly error: string | null
  readonly durationMs: number
  /** The first KiB of the answer. */
  readonly responseBody: string | null
  /** Seconds a 429 or 503 asked us to wait, as sent. */
  readonly retryAfter: string | null
}

/** Makes one webhook request. */
export class WebhookSender extends Context.Service<
  WebhookSender,
  {
    send(options: {
      readonly url: string
      readonly eventId: EventId
      readonly payload: string
      readonly secrets: SigningSecrets
    }): Effect.Effect<Outcome>
  }
>()("inlet/delivery/WebhookSender") {
  static readonly layer = Layer.effect(
    WebhookSender,
    Effect.gen(function* () {
      const signer = yield* WebhookSigner
      const egress = yield* Egress

      const send: WebhookSender["Service"]["send"] = Effect.fnUntraced(function* ({ eventId, payload, secrets, url }) {
        const body = Buffer.from(payload)
        const signature = yield* signer.sign({ eventId, body, secrets })
        const started = yield* Clock.currentTimeMillis
        const headers = { "Content-Type": "application/json", "User-Agent": `Inlet/${version}`, ...signature }
        const outcome = yield* Effect.match(egress.post({ url, headers, body }), {
          onSuccess: ({ body, retryAfter, statusCode }) => ({
            statusCode,
            error: statusCode >= 200 && statusCode < 300 ? null : `the webhook answered ${statusCode}`,
            responseBody: body,
            retryAfter
          }),
          onFailure: ({ message }) => ({ statusCode: null, error: message, responseBody: null, retryAfter: null })
        })
        return { ...outcome, durationMs: (yield* Clock.currentTimeMillis) - started }
      })

      return WebhookSender.of({ send })
    })
  ).pipe(Layer.provide([WebhookSigner.layer, Egress.layer]))
}
