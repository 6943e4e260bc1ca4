import { Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Conflict, Invalid, NotFound, TooManyRequests, Unauthorized, Unavailable } from "../model/ApiError.ts"
import { Delivery, DeliveryAttempt, DeliveryStatus } from "../model/Delivery.ts"
import { DomainId } from "../model/Domain.ts"
import { EventId, InboundEvent } from "../model/InboundEvent.ts"
import { Authorization } from "./Authorization.ts"

const ListedEvent = Schema.Struct({ ...InboundEvent.fields, delivery: Delivery }).annotate({
  identifier: "ListedEvent"
})

const NextCursor = Schema.NullOr(Schema.String).annotate({
  description: "give it back as `cursor` for the next page; null at the end"
})

const between = (minimum: number, maximum: number, meaning: string) => {
  const message = `Expected a whole number from ${minimum} to ${maximum}`
  // The description is read from the encoded side, which is what is on the wire.
  return Schema.String.annotate({ description: `${meaning}; ${minimum} to ${maximum}` }).pipe(
    Schema.decodeTo(
      Schema.Finite.annotate({ message }).check(
        Schema.isInt({ message }),
        Schema.isBetween({ minimum, maximum }, { message })
      ),
      SchemaTransformation.numberFromString
    )
  )
}

const Limit = Schema.optionalKey(between(1, 100, "how many on a page, 50 when absent"))

const time = (meaning: string) => {
  const message = "Expected a time such as 2026-01-31T12:00:00Z"
  return Schema.optionalKey(
    Schema.String.annotate({ description: `${meaning}, such as 2026-01-31T12:00:00Z` })
      // Four digits for the year: Postgres does not reach as far as JavaScript does.
      .check(Schema.isPattern(/^\d{4}-\d\d-\d\d/, { message }))
      .pipe(Schema.decodeTo(Schema.DateTimeUtcFromString.annotate({ message })))
  )
}

/** NUL is in no address, and Postgres refuses it. */
const Address = Schema.String.annotate({ description: "case is ignored" }).check(
  Schema.isPattern(/^[^\0]*$/, { message: "Expected an address" })
)

export class EventsApi extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("list", "/api/domains/:id/events", {
      params: { id: DomainId },
      query: {
        limit: Limit,
        cursor: Schema.optionalKey(Schema.String),
        recipient: Schema.optionalKey(Address),
        from: Schema.optionalKey(Address),
        since: time("received at this time or later"),
        until: time("received at this time or earlier"),
        delivery: Schema.optionalKey(DeliveryStatus),
        after: Schema.optionalKey(
          Schema.String.annotate({ description: "an event id: only events newer than that one" })
        ),
        wait: Schema.optionalKey(
          between(0, 60, "seconds to hold the answer while nothing matches; only new events end the wait")
        )
      },
      success: Schema.Struct({ events: Schema.Array(ListedEvent), next_cursor: NextCursor }),
      error: [Invalid.http, Unauthorized.http, NotFound.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List events, newest first",
        description:
          "Each event is the payload of its webhook and how its delivery stands. With `wait` the answer is held until something new matches, or is an empty list when the time is up; not together with `cursor`."
      })
    ),
    HttpApiEndpoint.get("stream", "/api/domains/:id/events/stream", {
      params: { id: DomainId },
      headers: { "last-event-id": Schema.optionalKey(Schema.String) },
      success: HttpApiSchema.StreamSse({ data: InboundEvent }),
      error: [Invalid.http, NotFound.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Follow events as they come",
        description:
          "Server-sent events, oldest first, from now on or after Last-Event-ID. The id of each is its event_id, its data the payload of the webhook."
      })
    ),
    HttpApiEndpoint.get("get", "/api/domains/:id/events/:eventId", {
      params: { id: DomainId, eventId: EventId },
      success: ListedEvent,
      error: NotFound.http
    }).annotateMerge(OpenApi.annotations({ summary: "Get one event" })),
    HttpApiEndpoint.get("raw", "/api/domains/:id/events/:eventId/raw", {
      params: { id: DomainId, eventId: EventId },
      success: HttpApiSchema.StreamUint8Array({ contentType: "message/rfc822" }),
      error: [NotFound.http, Unavailable.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Download the raw message",
        description: "The .eml as received, with the Return-Path and Received fields of this service in front."
      })
    ),
    HttpApiEndpoint.get("attachment", "/api/domains/:id/events/:eventId/attachments/:index", {
      params: { id: DomainId, eventId: EventId, index: between(0, 100_000, "index of the attachment in the event") },
      success: HttpApiSchema.StreamUint8Array(),
      error: [NotFound.http, Unavailable.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Download an attachment",
        description: "The decoded bytes, by the index that the event gives, as a download under its own type."
      })
    ),
    HttpApiEndpoint.post("replay", "/api/domains/:id/events/:eventId/replay", {
      params: { id: DomainId, eventId: EventId },
      query: { force: Schema.optionalKey(Schema.Literals(["true", "false"])) },
      success: Schema.Struct({ event_id: EventId, delivery: Delivery }).pipe(HttpApiSchema.status(202)),
      error: [NotFound.http, Conflict.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Deliver an event again",
        description:
          "Queued at once with a fresh attempt budget. 409 when it is already delivered (unless force=true), when no webhook is set, or when the domain is disabled."
      })
    ),
    HttpApiEndpoint.get("deliveryAttempts", "/api/domains/:id/delivery-attempts", {
      params: { id: DomainId },
      query: {
        limit: Limit,
        cursor: Schema.optionalKey(Schema.String),
        event_id: Schema.optionalKey(EventId)
      },
      success: Schema.Struct({ deliveryAttempts: Schema.Array(DeliveryAttempt), next_cursor: NextCursor }),
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(OpenApi.annotations({ summary: "List webhook requests, newest first" }))
  )
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Events", description: "What came in, and what became of its delivery" })
  ) {}
