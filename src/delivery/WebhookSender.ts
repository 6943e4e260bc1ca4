import type { Readable } from "node:stream"
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
      const { concurrency, timeout } = yield* Settings.webhooks
      const agent = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new Agent({
              // Many domains may share a host, and none of them waits for another's connections.
              connections: concurrency,
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
        const deadline = AbortSignal.timeout(Duration.toMillis(timeout))
        const answer = yield* Effect.tryPromise({
          try: (interrupted) =>
            request(url, {
              method: "POST",
              dispatcher: agent,
              signal: AbortSignal.any([interrupted, deadline]),
              body,
              headers: { "Content-Type": "application/json", "User-Agent": `Inlet/${version}`, ...signature }
            }),
          catch: (cause) => reasonOf(cause, timeout)
        }).pipe(
          Effect.flatMap(answerOf),
          Effect.catch((error) => Effect.succeed({ statusCode: null, error, responseBody: null, retryAfter: null }))
        )
        return { ...answer, durationMs: (yield* Clock.currentTimeMillis) - started }
      })

      return WebhookSender.of({ send })
    })
  ).pipe(Layer.provide(WebhookSigner.layer))
}

/** The status decides; of the body only the first KiB is read, and what follows is cut off with its connection. */
const answerOf = ({ body, headers, statusCode }: Dispatcher.ResponseData) => {
  const retryAfter = headers["retry-after"]
  return Effect.map(firstBytes(body), (responseBody) => ({
    statusCode,
    error: statusCode >= 200 && statusCode < 300 ? null : `the webhook answered ${statusCode}`,
    retryAfter: typeof retryAfter === "string" ? retryAfter : null,
    responseBody
  }))
}

/** A body that breaks off, or drips until the deadline, does not change the status that came before it. */
const firstBytes = (body: Readable) =>
  Effect.callback<string>((resume) => {
    const chunks: Array<Uint8Array> = []
    let length = 0
    const done = () =>
      resume(Effect.succeed(Buffer.concat(chunks).subarray(0, keptResponseBytes).toString("utf8").replaceAll("\0", "")))
    body.on("data", (chunk: Uint8Array) => {
      chunks.push(chunk)
      length += chunk.byteLength
      if (length > keptResponseBytes) body.destroy()
    })
    body.once("end", done)
    body.once("error", done)
    body.once("close", done)
    return Effect.sync(() => void body.destroy())
  })

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
