import { Clock, Context, Duration, Effect, Layer } from "effect"
import { Agent, type Dispatcher, errors, request } from "undici"
import type { EventId } from "../model/InboundEvent.ts"
import * as Settings from "../Settings.ts"
import { version } from "../Version.ts"
import { type SigningSecrets, WebhookSigner } from "./WebhookSigner.ts"

/** What became of one request. It never fails: no answer is an outcome too. */
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

const keptResponseBytes = 1_024

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
      const { concurrencyPerDomain, timeout } = yield* Settings.webhooks
      const agent = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new Agent({
              connections: concurrencyPerDomain * 4,
              pipelining: 1,
              keepAliveTimeout: 10_000,
              keepAliveMaxTimeout: 60_000,
              connect: { timeout: Duration.toMillis(timeout) },
              headersTimeout: Duration.toMillis(timeout),
              bodyTimeout: Duration.toMillis(timeout)
            })
        ),
        (agent) => Effect.promise(() => agent.destroy())
      )

      const send: WebhookSender["Service"]["send"] = Effect.fn("WebhookSender.send")(function* ({
        eventId,
        payload,
        secrets,
        url
      }) {
        const body = Buffer.from(payload)
        const signature = yield* signer.sign({ eventId, body, secrets })
        const started = yield* Clock.currentTimeMillis
        const answer = yield* Effect.tryPromise({
          try: (signal) =>
            post(
              url,
              agent,
              body,
              signature,
              AbortSignal.any([signal, AbortSignal.timeout(Duration.toMillis(timeout))])
            ),
          catch: (cause) => reasonOf(cause, timeout)
        }).pipe(
          Effect.match({
            onFailure: (error) => ({ statusCode: null, error, responseBody: null, retryAfter: null }),
            onSuccess: (answer) => answer
          })
        )
        return { ...answer, durationMs: (yield* Clock.currentTimeMillis) - started }
      })

      return WebhookSender.of({ send })
    })
  ).pipe(Layer.provide(WebhookSigner.layer))
}

/** The status decides; of the body only the first KiB is read, and what follows is cut off with its connection. */
const post = async (
  url: string,
  dispatcher: Dispatcher,
  body: Buffer,
  signature: Record<string, string>,
  signal: AbortSignal
): Promise<Omit<Outcome, "durationMs">> => {
  const response = await request(url, {
    method: "POST",
    dispatcher,
    signal,
    body,
    headers: { "Content-Type": "application/json", "User-Agent": `Inlet/${version}`, ...signature }
  })
  const retryAfter = response.headers["retry-after"]
  return {
    statusCode: response.statusCode,
    error:
      response.statusCode >= 200 && response.statusCode < 300 ? null : `the webhook answered ${response.statusCode}`,
    retryAfter: typeof retryAfter === "string" ? retryAfter : null,
    responseBody: await firstBytes(response.body)
  }
}

/** A body that breaks off or drips until the deadline does not change the status that came before it. */
const firstBytes = (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  const read = async () => {
    for await (const chunk of body) {
      chunks.push(chunk)
      length += chunk.byteLength
      if (length >= keptResponseBytes) break
    }
  }
  const text = () => Buffer.concat(chunks).subarray(0, keptResponseBytes).toString("utf8").replaceAll("\0", "")
  return read().then(text, text)
}

/** Our own words for what a person can do something about, else the library's code. */
const reasonOf = (cause: unknown, timeout: Duration.Duration): string => {
  if (cause instanceof DOMException && cause.name === "TimeoutError") {
    return `no answer within ${Duration.toSeconds(timeout)} s`
  }
  if (cause instanceof errors.UndiciError) return `no valid answer (${cause.code}: ${cause.message})`
  if (cause instanceof Error) {
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : cause.name
    return words[code] ?? `no answer (${code}: ${cause.message})`
  }
  return "no answer"
}

const words: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset before an answer",
  ENOTFOUND: "the host name does not resolve",
  EAI_AGAIN: "DNS did not answer for the host name",
  EHOSTUNREACH: "the host can't be reached",
  ENETUNREACH: "the network can't be reached",
  CERT_HAS_EXPIRED: "the certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name"
}
