import { Clock, Console, Duration, Effect, Option, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { SignedRequest } from "../../delivery/RequestSigner.ts"
import * as ErrorOrigin from "../../ErrorOrigin.ts"
import type { DomainId } from "../../model/Domain.ts"
import type { WebhookId } from "../../model/Webhook.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import type * as Service from "../terminal/Service.ts"
import * as AppRequest from "./AppRequest.ts"
import * as CursorFile from "./CursorFile.ts"

/** Timeout of a stream without data or heartbeat. */
const silence = Duration.seconds(45)

/** Age at which a waiting request is signed again, because an app rejects a signature of 300 s. */
const freshSeconds = 120

/** Longest delay between connection attempts. */
const longestWait = Duration.seconds(5)

/** Maximum characters of an event. The library's default is 10 MiB, and an event may be larger. */
const largestEvent = 512 * 1024 * 1024

/** A stream that ended or could not be opened. It is retried. */
class NotConnected extends Schema.TaggedError<NotConnected>()("NotConnected", { message: Schema.String }) {}

const Refusal = Schema.Struct({ error: Schema.String })

/** What the service says of a position that it does not know, and what to do. */
const wrongPlace = (error: string) =>
  `${error.replace(/^(Last-Event-ID|after)/, "--after")}. To go on, --from-start takes all mail that is kept, and --after latest only what comes from now on`

/** The stream of signed requests after a position. */
const connect = Effect.fnUntraced(function* (
  api: Service.Client,
  id: DomainId,
  { after, webhookId }: { readonly after: string; readonly webhookId: WebhookId | undefined }
) {
  const response = yield* api.events
    .stream({
      params: { id },
      query: { signed: "true", ...(webhookId === undefined ? {} : { webhook: webhookId }) },
      headers: { "last-event-id": after },
      responseMode: "response-only"
    })
    .pipe(
      Effect.timeout(silence),
      Effect.mapError((error) => new NotConnected({ message: ErrorOrigin.messageOf(error) }))
    )
  if (response.status !== 200) {
    const { error } = yield* response.json.pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Refusal)),
      Effect.orElseSucceed(() => ({ error: `The service answered ${response.status}` }))
    )
    // Temporary failures: rate limits, a restarting service.
    if (response.status === 429 || response.status >= 500) return yield* new NotConnected({ message: error })
    return yield* new CommandFailed({
      message: response.status === 400 ? wrongPlace(error) : error
    })
  }
  return response.stream.pipe(
    Stream.timeoutOrElse({
      duration: silence,
      orElse: () => Stream.fail(new NotConnected({ message: `no data for ${Duration.format(silence)}` }))
    }),
    Stream.decodeText,
    Stream.pipeThroughChannel(Sse.decode({ maxEventSize: largestEvent })),
    Stream.mapError((error) =>
      error instanceof NotConnected
        ? error
        : new NotConnected({ message: "message" in error ? ErrorOrigin.messageOf(error) : "it asked to come again" })
    )
  )
})

const Signed = Schema.fromJsonString(SignedRequest)

export interface Options {
  readonly url: string
  readonly json: boolean
  /** Only mail of this webhook. */
  readonly webhookId?: WebhookId | undefined
  readonly cursorFile: Option.Option<string>
  readonly fromStart: boolean
  readonly after: Option.Option<string>
}

/** The position where a listener starts. It is synced before the first request. */
const begin = Effect.fnUntraced(function* (
  api: Service.Client,
  id: DomainId,
  { after, cursorFile, fromStart, webhookId }: Options
) {
  const cursor = yield* CursorFile.open(cursorFile, id, webhookId)
  const given = fromStart ? "start" : Option.getOrUndefined(after)
  const known = given ?? (yield* cursor.after)
  if (known !== undefined && given === undefined) return { cursor, place: known }
  // A position is stored at once, or mail before the first answer of the app could be missed. The service has accepted
  // it by then, so that a wrong one replaces no other.
  const { cursor_now } = yield* api.events
    .list({ params: { id }, query: { limit: 1, view: "brief", ...(known === undefined ? {} : { after: known }) } })
    .pipe(Effect.catchTag("Invalid", ({ message }) => Effect.fail(new CommandFailed({ message: wrongPlace(message) }))))
  const place = known === undefined || known === "latest" ? cursor_now : known
  yield* cursor.write(place)
  return { cursor, place }
})

/**
 * Posts a copy of each event to an app, in order, and stores the position once the app has answered 2xx. Each event
 * arrives at least once. A refused event is signed again and retried before any other.
 */
export const run = Effect.fnUntraced(function* (api: Service.Client, id: DomainId, options: Options) {
  const { json, url, webhookId } = options
  const begun = yield* begin(api, id, options)
  const { cursor } = begun
  let { place } = begun
  yield* Console.error(`Copies go to ${url}; ${cursor.file} has the place. Ctrl-C stops`)
  /** Consecutive failures of requests and connections. */
  let refused = 0
  let lost = 0
  /** Why the stream is opened again. */
  const again: { for: "the app" | "the signature" | "the service" } = { for: "the service" }

  const forwarded = Effect.fnUntraced(function* ({ body, headers }: SignedRequest, eventId: string) {
    const outcome = yield* AppRequest.post(url, { headers, body })
    if (outcome.error !== null) {
      refused++
      again.for = "the app"
      const wait = AppRequest.backoff(refused)
      const skip = refused === 5 ? `; to go on without it: --after ${eventId}` : ""
      yield* AppRequest.tell(json, body, outcome, {
        says: `again in ${Duration.format(wait)}${skip}`,
        retryMs: Duration.toMillis(wait)
      })
      return false
    }
    yield* cursor.write(eventId)
    place = eventId
    refused = 0
    yield* AppRequest.tell(json, body, outcome)
    return true
  })

  /** Follows the stream until it ends or must be opened again. */
  const follow = Effect.gen(function* () {
    const messages = yield* connect(api, id, { after: place, webhookId })
    if (lost > 0) yield* Console.error("Connected again")
    lost = 0
    again.for = "the service"
    let isFirst = true
    yield* Stream.runForEachWhile(
      messages,
      Effect.fnUntraced(function* ({ data, event, id: eventId }) {
        if (event === "end") return yield* new CommandFailed({ message: "The domain was removed" })
        const request = yield* Effect.mapError(
          Schema.decodeEffect(Signed)(data),
          () => new CommandFailed({ message: "The service is too old for `--forward-to`. Upgrade it" })
        )
        const now = (yield* Clock.currentTimeMillis) / 1_000
        const isOld = now - Number(request.headers["X-Service-Timestamp"]) > freshSeconds
        // The first one is fresh, whatever the clocks say.
        if (isOld && !isFirst) {
          again.for = "the signature"
          return false
        }
        isFirst = false
        return yield* forwarded(request, eventId ?? place)
      })
    )
  })

  for (;;) {
    const why = yield* follow.pipe(
      Effect.as("the service ended the stream"),
      Effect.catchTag("NotConnected", ({ message }) => Effect.succeed(message))
    )
    if (again.for === "the signature") continue
    if (again.for === "the app") yield* Effect.sleep(AppRequest.backoff(refused))
    else {
      lost++
      if (lost === 1) yield* Console.error(`Not connected: ${why}. It is tried again`)
      yield* Effect.sleep(Duration.min(AppRequest.backoff(lost), longestWait))
    }
  }
})
