import { Console, DateTime, Duration, Effect, Schema, Stream } from "effect"
import { HttpBody, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { SignedRequest } from "../../delivery/RequestSigner.ts"
import * as ErrorOrigin from "../../ErrorOrigin.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"

/** Timeout of the app. */
const patience = Duration.seconds(30)

/** Maximum bytes of the answer to read. */
const keptBytes = 1_024

const firstWait = Duration.millis(250)
const longestWait = Duration.seconds(30)

/** Delay after a number of consecutive failures. */
export const backoff = (failures: number): Duration.Duration =>
  Duration.min(Duration.times(firstWait, 2 ** Math.min(Math.max(failures - 1, 0), 10)), longestWait)

/** The outcome of a request, also without an answer. */
export interface Outcome {
  readonly statusCode: number | null
  /** Why there was no answer, or which answer was not 2xx. */
  readonly error: string | null
  readonly durationMs: number
  /** The first KiB of the answer. */
  readonly responseBody: string | null
}

/** Refuses an invalid URL. */
export const checkUrl = Effect.fnUntraced(function* (text: string) {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return url.href
  return yield* new CommandFailed({
    message: "--forward-to: Expected the URL of your app, such as http://localhost:8000/inbound, without a password"
  })
})

/** Posts the request of a webhook to an app, its body byte for byte. Redirects are not followed. */
export const post = Effect.fnUntraced(function* (url: string, { body, headers }: SignedRequest) {
  const client = yield* HttpClient.HttpClient
  const request = HttpClientRequest.post(url).pipe(
    HttpClientRequest.setHeaders(headers),
    HttpClientRequest.setBody(HttpBody.text(body, "application/json"))
  )
  const asked = client.execute(request).pipe(
    Effect.flatMap((response) =>
      Effect.map(startOf(response), (responseBody) => ({
        statusCode: response.status,
        error: response.status >= 200 && response.status < 300 ? null : `the app answered ${response.status}`,
        responseBody
      }))
    ),
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.succeed(unanswered(`no answer within ${Duration.format(patience)}`))
    }),
    Effect.catch((error) => Effect.succeed(unanswered(ErrorOrigin.messageOf(error)))),
    // The app gets the same request as a webhook.
    Effect.provideService(HttpClient.TracerPropagationEnabled, false)
  )
  const [took, outcome] = yield* Effect.timed(asked)
  const told: Outcome = { ...outcome, durationMs: Math.round(Duration.toMillis(took)) }
  return told
})

const unanswered = (error: string) => ({ statusCode: null, error, responseBody: null })

/** The status decides, even if the body breaks off or is slow. */
const startOf = (response: HttpClientResponse.HttpClientResponse) => {
  let bytes = 0
  return response.stream.pipe(
    Stream.takeUntil((chunk) => {
      bytes += chunk.byteLength
      return bytes >= keptBytes
    }),
    Stream.runCollect,
    Effect.timeout("2 seconds"),
    Effect.map((chunks) => Buffer.concat(chunks).subarray(0, keptBytes).toString("utf8").replaceAll("\0", "")),
    Effect.orElseSucceed(() => null)
  )
}

const Named = Schema.fromJsonString(
  Schema.Struct({ event_id: Schema.String, recipient: Schema.String, subject: Schema.String })
)

/** One line for a request: time, status, duration, mail, and what follows. */
export const tell = Effect.fnUntraced(function* (
  json: boolean,
  body: string,
  { durationMs, error, statusCode }: Outcome,
  next: { readonly says?: string; readonly retryMs?: number; readonly attempt?: number } = {}
) {
  const { event_id, recipient, subject } = yield* Effect.orDie(Schema.decodeEffect(Named)(body))
  const time = DateTime.formatIso(yield* DateTime.now)
  const { attempt, retryMs, says } = next
  if (json) {
    const line = { time, event_id, recipient, subject, attempt, statusCode, error, durationMs, retryMs }
    return yield* Console.log(JSON.stringify(line))
  }
  const failed = error === null ? [] : [statusCode === null ? error : "", says ?? ""].filter((words) => words !== "")
  const words = [time, statusCode ?? "---", `${durationMs} ms`, event_id, recipient, subject, ...failed]
  yield* Console.log(Answer.visible(words.join("  ").replaceAll("\t", " ")))
})
