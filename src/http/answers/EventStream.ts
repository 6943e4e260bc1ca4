import { Clock, Effect, type Scope, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ListedEvent, LoadedEvent } from "../../events/EventQuery.ts"
import type { AnswerRoom } from "./AnswerRoom.ts"
import * as CurrentAnswer from "./CurrentAnswer.ts"
import * as TextPieces from "./TextPieces.ts"

const beatMillis = 15_000

/** Told before the connection closes, so that a client knows that there is nothing to come back for. */
const last = ['event: end\ndata: {"reason":"The domain was removed"}\n\n']

/**
 * Server-sent events until there are no more, which is told, or until `end` is; a comment every
 * 15 s keeps proxies from closing a quiet stream.
 * The next events are read when these are written, so a client that does not read holds a few of them.
 */
export const toResponse = Effect.fnUntraced(function* (options: {
  /** A few at a time, and none each time that nothing was new. */
  readonly events: Stream.Stream<ReadonlyArray<ListedEvent>>
  readonly room: AnswerRoom["Service"]
  readonly payloads: (events: ReadonlyArray<ListedEvent>) => Stream.Stream<LoadedEvent>
  /** What gives the data of the next few events, in parts: their payloads, unless another view of them is asked for. */
  readonly encoder?: Effect.Effect<(event: LoadedEvent) => Effect.Effect<ReadonlyArray<string>>>
  /** How often as much as its payload an event may weigh in that view. */
  readonly growth?: number
  readonly end: Effect.Effect<unknown>
}) {
  const { encoder = Effect.succeed(payloadOf), end, events, growth = 1, payloads, room } = options
  // The first tells the client at once that it is heard.
  let lastAt = Number.NEGATIVE_INFINITY

  const beat = Effect.map(Clock.currentTimeMillis, (now) => {
    if (now - lastAt < beatMillis) return Stream.empty
    lastAt = now
    return Stream.succeed([": still here\n\n"])
  })
  const lines = (some: ReadonlyArray<ListedEvent>) =>
    Effect.gen(function* () {
      yield* room.whileWritten(growth * some.reduce((sum, { bytes }) => sum + bytes, 0))
      const encode = yield* encoder
      lastAt = yield* Clock.currentTimeMillis
      return Stream.mapEffect(payloads(some), (event) =>
        Effect.map(encode(event), (data) => [`id: ${event.id}\nevent: inbound.email.received\ndata: `, ...data, "\n\n"])
      )
    })
  const text = Stream.flatMap(events, (some) =>
    Stream.unwrap<ReadonlyArray<string>, never, never, never, Scope.Scope>(some.length === 0 ? beat : lines(some))
  ).pipe(Stream.concat(Stream.succeed(last)))
  const body = Stream.interruptWhen(TextPieces.encoded(text), end)
  return HttpServerResponse.stream(yield* CurrentAnswer.kept(body), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
  })
})

const payloadOf = ({ payload }: LoadedEvent) => Effect.succeed([payload])
