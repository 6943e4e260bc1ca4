import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type * as Content from "../content/html/Content.ts"
import type { NotFound, Unavailable } from "../model/ApiError.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import { RequestReader } from "../reading/RequestReader.ts"
import { Events } from "./Events.ts"

/** Returns the content of an event for an agent: a part of it, in Markdown, in slices. */
export class EventContents extends Context.Service<
  EventContents,
  {
    /** `reserve` requests memory for the event before it is loaded. */
    read<E>(
      domainId: DomainId,
      eventId: EventId,
      request: Content.ContentRequest,
      reserve: (bytes: number) => Effect.Effect<void, E>
    ): Effect.Effect<Content.Content, E | NotFound | Unavailable | SqlError>
    /** The same for a loaded payload. */
    of(payload: string, request: Content.ContentRequest): Effect.Effect<Content.Content, Unavailable>
    /** The HTML part of a loaded payload as a page for a sandboxed frame, or null without one. */
    page(payload: string): Effect.Effect<string | null, Unavailable>
  }
>()("inlet/events/EventContents") {
  static readonly layer = Layer.effect(
    EventContents,
    Effect.gen(function* () {
      const events = yield* Events
      const reader = yield* RequestReader

      const read = Effect.fn("EventContents.read")(function* <E>(
        domainId: DomainId,
        eventId: EventId,
        request: Content.ContentRequest,
        reserve: (bytes: number) => Effect.Effect<void, E>
      ) {
        const listed = yield* events.get(domainId, eventId)
        yield* reserve(listed.bytes)
        const { payload } = yield* events.payload(domainId, listed)
        return yield* reader.content(payload, request)
      })

      return EventContents.of({ read, of: reader.content, page: reader.page })
    })
  ).pipe(Layer.provide(RequestReader.layer))
}
