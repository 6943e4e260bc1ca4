import { Clock, Context, Effect, Layer } from "effect"
import type { Signable } from "../providers/signing/WebhookSigner.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import { Egress } from "./Egress.ts"
import * as FailureReason from "./FailureReason.ts"
import type { LeasedDelivery } from "./Lease.ts"
import * as RequestHeaders from "./RequestHeaders.ts"
import * as SigningInTime from "./SigningInTime.ts"

/** The outcome of one request, also without an answer. */
export interface Outcome {
  readonly statusCode: number | null
  /** Why there was no answer, or which answer was not 2xx. */
  readonly error: string | null
  readonly durationMs: number
  /** The first KiB of the answer. */
  readonly responseBody: string | null
  /** The unparsed `Retry-After` of a 429 or 503. */
  readonly retryAfter: string | null
  /** No other attempt may follow: the receiver wants none, or there is nothing left to send. */
  readonly isFinal: boolean
}

/** Makes one webhook request. */
export class WebhookSender extends Context.Service<
  WebhookSender,
  {
    /**
     * Signs and sends a request, as JSON unless `headers` say otherwise. Succeeds with any outcome. Interruption
     * cancels the request.
     */
    send(
      delivery: Pick<LeasedDelivery, "payload" | "secrets" | "url" | "workspaceId"> &
        Pick<Signable, "eventId"> & { readonly headers?: Readonly<Record<string, string>> }
    ): Effect.Effect<Outcome>
  }
>()("inlet/delivery/WebhookSender") {
  static readonly layer = Layer.effect(
    WebhookSender,
    Effect.gen(function* () {
      const egress = yield* Egress
      const sign = yield* SigningInTime.make
      const clock = yield* Clock.Clock

      const send: WebhookSender["Service"]["send"] = ({ eventId, headers, payload, secrets, url, workspaceId }) =>
        Effect.suspend(() => {
          const started = Elapsed.millisOf(clock)
          const end = (outcome: Partial<Outcome>): Outcome => ({
            ...unanswered,
            ...outcome,
            durationMs: Elapsed.millisOf(clock) - started
          })
          const seconds = Math.floor(clock.currentTimeMillisUnsafe() / 1_000)
          return sign({ workspaceId, eventId, body: payload, seconds, secrets }).pipe(
            Effect.flatMap((signature) =>
              egress.send({ url, headers: RequestHeaders.of(signature, headers), body: payload })
            ),
            Effect.match({
              onSuccess: ({ body, retryAfter, statusCode }) =>
                end({
                  statusCode,
                  error: statusCode >= 200 && statusCode < 300 ? null : `the webhook answered ${statusCode}`,
                  responseBody: body,
                  retryAfter,
                  isFinal: statusCode === gone
                }),
              onFailure: (failure) =>
                end({
                  error: failure._tag === "SigningFailed" ? FailureReason.unsigned(failure.message) : failure.message
                })
            })
          )
        })

      return WebhookSender.of({ send })
    })
  ).pipe(Layer.provide(Egress.layer))
}

/** The status of a receiver that wants no more requests (RFC 9110, section 15.5.11). */
export const gone = 410

/** An outcome without a request or an answer. */
export const unanswered: Outcome = {
  statusCode: null,
  error: null,
  durationMs: 0,
  responseBody: null,
  retryAfter: null,
  isFinal: false
}

/** An attempt that failed before its request. */
export const failed = (error: string): Outcome => ({ ...unanswered, error })
