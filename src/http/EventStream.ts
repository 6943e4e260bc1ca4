import { type Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ListedEvent } from "../events/EventQuery.ts"

/** Server-sent events until `end` does; a comment every 15 s keeps proxies from closing a quiet stream. */
export const toResponse = (events: Stream.Stream<ListedEvent>, end: Effect.Effect<unknown>) => {
  const lines = Stream.map(
    events,
    ({ id, payload }) => `id: ${id}\nevent: inbound.email.received\ndata: ${payload}\n\n`
  )
  const beats = Stream.map(Stream.tick("15 seconds"), () => ": still here\n\n")
  return HttpServerResponse.stream(Stream.merge(lines, beats).pipe(Stream.interruptWhen(end), Stream.encodeText), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
  })
}
