import { Context, Effect, Layer, Schema } from "effect"
import type * as Content from "../content/Content.ts"
import type { NotFound } from "../model/ApiError.ts"
import type { DomainId } from "../model/Domain.ts"
import { type EventId, InboundEvent } from "../model/InboundEvent.ts"
import { ParserThreads } from "../reading/ParserThreads.ts"
import { Events } from "./Events.ts"

/** What a payload says of its content. */
const Said = Schema.fromJsonString(
  Schema.Struct({
    text: InboundEvent.fields.text,
    html: InboundEvent.fields.html,
    reply: InboundEvent.fields.reply
  })
)

const decode = Schema.decodeSync(Said)

/** The content of an event as an agent reads it: a part of it, in Markdown, piece by piece. */
export class EventContents extends Context.Service<
  EventContents,
  {
    /** `reserve` is asked for room for the event before it is read. */
    read<E>(
      domainId: DomainId,
      eventId: EventId,
      request: Content.ContentRequest,
      reserve: (bytes: number) => Effect.Effect<void, E>
    ): Effect.Effect<Content.Content, E | NotFound>
    /** The same of a payload that has been read. */
    of(payload: string, request: Content.ContentRequest): Effect.Effect<Content.Content>
  }
>()("inlet/events/EventContents") {
  static readonly layer = Layer.effect(
    EventContents,
    Effect.gen(function* () {
      const events = yield* Events
      const threads = yield* ParserThreads

      const of: EventContents["Service"]["of"] = (payload, request) => threads.content(decode(payload), request)

      const read = Effect.fn("EventContents.read")(function* <E>(
        domainId: DomainId,
        eventId: EventId,
        request: Content.ContentRequest,
        reserve: (bytes: number) => Effect.Effect<void, E>
      ) {
        const listed = yield* events.get(domainId, eventId)
        yield* reserve(listed.bytes)
        const { payload } = yield* events.payload(domainId, listed)
        return yield* of(payload, request)
      })

      return EventContents.of({ read, of })
    })
  ).pipe(Layer.provide(ParserThreads.layer))
}
