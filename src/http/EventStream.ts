import { type Duration, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ListedEvent } from "../reading/Events.ts"

/** Server-sent events; a comment every 15 s keeps proxies from closing a quiet stream. */
export const toResponse = (
  events: Stream.Stream<ListedEvent>,
  { endsAfter }: { readonly endsAfter?: Duration.Input } = {}
) => {
  const lines = Stream.map(
    events,
    ({ id, payload }) => `id: ${id}\nevent: inbound.email.received\ndata: ${payload}\n\n`
  )
  const beats = Stream.map(Stream.tick("15 seconds"), () => ": still here\n\n")
  return HttpServerResponse.stream(
    Stream.merge(lines, beats).pipe(
      Stream.interruptWhen(endsAfter === undefined ? Effect.never : Effect.sleep(endsAfter)),
      Stream.encodeText
    ),
    {
      contentType: "text/event-stream",
      headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
    }
  )
}
