import { Clock, Context, Effect, Layer } from "effect"
import { Egress, type UnderWay } from "./Egress.ts"
import type { LeasedDelivery } from "./Lease.ts"
import * as WebhookSigner from "./WebhookSigner.ts"

/** What became of one request: no answer is an outcome too. */
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
    /** On the path of every message: a plain function, and `ended` is called once. */
    send(
      delivery: Pick<LeasedDelivery, "eventId" | "payload" | "secrets" | "url">,
      ended: (outcome: Outcome) => void
    ): UnderWay
  }
>()("inlet/delivery/WebhookSender") {
  static readonly layer = Layer.effect(
    WebhookSender,
    Effect.gen(function* () {
      const egress = yield* Egress
      const clock = yield* Clock.Clock

      const send: WebhookSender["Service"]["send"] = ({ eventId, payload, secrets, url }, ended) => {
        const started = clock.currentTimeMillisUnsafe()
        const seconds = Math.floor(started / 1_000)
        const headers = WebhookSigner.headersOf({ eventId, body: payload, secrets, seconds })
        const end = (outcome: Omit<Outcome, "durationMs">) =>
          ended({ ...outcome, durationMs: Math.max(0, clock.currentTimeMillisUnsafe() - started) })
        return egress.send(
          { url, headers, body: payload },
          {
            answered: ({ body, retryAfter, statusCode }) =>
              end({
                statusCode,
                error: statusCode >= 200 && statusCode < 300 ? null : `the webhook answered ${statusCode}`,
                responseBody: body,
                retryAfter
              }),
            unanswered: (error) => end({ statusCode: null, error, responseBody: null, retryAfter: null })
          }
        )
      }

      return WebhookSender.of({ send })
    })
  ).pipe(Layer.provide(Egress.layer))
}
