import { Effect, type Scope, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { SqlError } from "effect/sql/SqlError"
import type { ListedEvent, LoadedEvent } from "../../events/EventQuery.ts"
import * as Elapsed from "../../schedule/Elapsed.ts"
import type { AnswerRoom } from "./AnswerRoom.ts"
import * as CurrentAnswer from "./CurrentAnswer.ts"
import * as TextPieces from "./TextPieces.ts"

const beatMillis = 15_000

/** Sent before the connection closes, so that clients do not reconnect. */
const last = ['event: end\ndata: {"reason":"The domain was removed"}\n\n']

/**
 * Sends server-sent events until the source or `end` completes. A comment every 15 s keeps proxies from closing a quiet
 * stream. Loads the next events when the previous ones are written, so a client that does not read holds few.
 */
export const toResponse = Effect.fnUntraced(function* (options: {
  /** A few at a time, and an empty list whenever nothing is new. */
  readonly events: Stream.Stream<ReadonlyArray<ListedEvent>, SqlError>
  readonly room: AnswerRoom["Service"]
  readonly payloads: (events: ReadonlyArray<ListedEvent>) => Stream.Stream<LoadedEvent, SqlError>
  /** Returns the data of the next events in parts: their payloads, or another view of them. */
  readonly encoder?: Effect.Effect<(event: LoadedEvent) => Effect.Effect<ReadonlyArray<string>>, SqlError>
  /** Maximum size of an event in that view, as a multiple of its payload. */
  readonly growth?: number
  readonly end: Effect.Effect<unknown>
}) {
  const { encoder = Effect.succeed(payloadOf), end, events, growth = 1, payloads, room } = options
  // The first comment is sent at once to confirm the stream.
  let lastAt = Number.NEGATIVE_INFINITY

  const beat = Effect.map(Elapsed.millis, (now) => {
    if (now - lastAt < beatMillis) return Stream.empty
    lastAt = now
    return Stream.succeed([": still here\n\n"])
  })
  const lines = Effect.fnUntraced(function* (some: ReadonlyArray<ListedEvent>) {
    yield* room.whileWritten(growth * some.reduce((sum, { bytes }) => sum + bytes, 0))
    const encode = yield* encoder
    lastAt = yield* Elapsed.millis
    return Stream.mapEffect(payloads(some), (event) =>
      Effect.map(encode(event), (data) => [`id: ${event.id}\nevent: inbound.email.received\ndata: `, ...data, "\n\n"])
    )
  })
  const text = Stream.flatMap(events, (some) =>
    Stream.unwrap<ReadonlyArray<string>, SqlError, never, SqlError, Scope.Scope>(some.length === 0 ? beat : lines(some))
  ).pipe(
    Stream.concat(Stream.succeed(last)),
    // The status is sent, so a database failure ends the stream.
    Stream.orDie
  )
  const body = Stream.interruptWhen(TextPieces.encoded(text), end)
  return HttpServerResponse.stream(yield* CurrentAnswer.kept(body), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
  })
})

const payloadOf = ({ payload }: LoadedEvent) => Effect.succeed([payload])
