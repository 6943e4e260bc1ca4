import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { SignedRequest } from "../../delivery/RequestSigner.ts"
import { BriefEvent } from "../../events/BriefEvent.ts"
import { Conflict, Invalid, NotFound, TooManyRequests, Unauthorized } from "../../model/ApiError.ts"
import { Delivery, DeliveryAttempt, DeliveryStatus } from "../../model/Delivery.ts"
import { DomainId } from "../../model/Domain.ts"
import { EventId, InboundEvent } from "../../model/InboundEvent.ts"
import { Authorization } from "../requests/Authorization.ts"
import * as Idempotency from "../requests/Idempotency.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as MailParts from "../requests/MailParts.ts"
import * as OpenApiSchemas from "../requests/OpenApiSchemas.ts"
import * as PageQuery from "../requests/PageQuery.ts"
import * as ReadKeys from "../requests/ReadKeys.ts"
import * as EventFilters from "./EventFilters.ts"

const ListedEvent = Schema.Struct({ ...InboundEvent.fields, delivery: Delivery }).annotate({
  identifier: "ListedEvent"
})

const Order = Schema.Literals(["asc", "desc"])

const CursorNow = Schema.String.annotate({
  description: "the mark of now, also when there is no event: give it back as `after` for what comes later"
})

const time = (meaning: string) => {
  const message = "Expected a time such as 2026-01-31T12:00:00Z"
  return Schema.optionalKey(
    Schema.String.annotate({
      description: `${meaning}, such as 2026-01-31T12:00:00Z`,
      ...OpenApiSchemas.dateTime
    })
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
        limit: PageQuery.Limit,
        cursor: Schema.optionalKey(
          Schema.String.annotate({ description: "`next_cursor` of the page before, with the same `order` and filters" })
        ),
        order: Schema.optionalKey(
          Order.annotate({
            description: "`desc` for newest first, which is the default, `asc` for oldest first: for catching up"
          })
        ),
        recipient: Schema.optionalKey(Address),
        from: Schema.optionalKey(Address),
        since: time("received at this time or later"),
        until: time("received at this time or earlier"),
        delivery: Schema.optionalKey(DeliveryStatus),
        ...EventFilters.query,
        after: Schema.optionalKey(
          Schema.String.annotate({
            description:
              "only events newer than this place: a `cursor_now`, the id of an event, `latest` for those that come from now on, or `start` for all that are kept"
          })
        ),
        wait: Schema.optionalKey(
          PageQuery.between(0, 60, "seconds to hold the answer while nothing matches; only new events end the wait")
        )
      },
      success: Schema.Struct({
        events: Schema.Union([Schema.Array(ListedEvent), Schema.Array(BriefEvent)]),
        next_cursor: PageQuery.NextCursor,
        cursor_now: CursorNow
      }),
      error: [Invalid.http, Unauthorized.http, NotFound.http, TooManyRequests.http]
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List events, newest first",
          description:
            "Each event is the payload of its webhook and how its delivery stands. With `wait` the answer is held until something matches, or is an empty list when the time is up; not together with `cursor`. What is there already answers a wait at once: to wait for new mail alone, take `cursor_now` of a list, trigger the mail, and wait with it as `after`. To catch up, list with `after` and `order=asc`, follow `next_cursor` to its end, and go on from `cursor_now`. Filters on subject, tag, thread, sender, `fromDomain`, `has` other than `code`, and `has` beside `delivery`, look through 5,000 events a request: go on while `next_cursor` is not null, also after an empty page."
        })
      ),
    HttpApiEndpoint.get("stream", "/api/domains/:id/events/stream", {
      params: { id: DomainId },
      query: {
        recipient: Schema.optionalKey(Address),
        from: Schema.optionalKey(Address),
        ...EventFilters.query,
        signed: Schema.optionalKey(
          Schema.Literals(["true", "false"]).annotate({
            description:
              "`true` for each event as the request that its webhook would get, signed now; not beside `view`, and with the workspace's own key alone",
            message: "Expected true or false"
          })
        )
      },
      headers: { "last-event-id": Schema.optionalKey(Schema.String) },
      success: HttpApiSchema.StreamSse({ data: Schema.Union([InboundEvent, BriefEvent, SignedRequest]) }),
      error: [Invalid.http, NotFound.http, TooManyRequests.http]
    })
      .annotateMerge(ReadKeys.allowedInPart)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Follow events as they come",
          description:
            "Server-sent events, oldest first, from now on or after Last-Event-ID (the id of an event, a `cursor_now`, or `start` for all that are kept). The id of each is its event_id, its data the payload of the webhook. With `signed=true` the data is `{headers, body}`: whoever posts that body as it is with these headers makes the request of the webhook, without the signing secret; post it within 300 s. Deliveries are not touched by it. When the domain is removed the stream ends with `event: end`."
        })
      ),
    HttpApiEndpoint.get("get", "/api/domains/:id/events/:eventId", {
      params: { id: DomainId, eventId: EventId },
      success: ListedEvent,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(OpenApi.annotations({ summary: "Get one event" })),
    HttpApiEndpoint.get("raw", "/api/domains/:id/events/:eventId/raw", {
      ...MailParts.raw,
      params: { id: DomainId, ...MailParts.raw.params }
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Download the raw message",
          description: "The .eml as received, with the Return-Path and Received fields of this service in front."
        })
      ),
    HttpApiEndpoint.get("content", "/api/domains/:id/events/:eventId/content", {
      ...MailParts.content,
      params: { id: DomainId, ...MailParts.content.params }
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Read the content of an event",
          description:
            "For agents: what a person sees of the mail, as Markdown without images, links by number, piece by piece. Words that a person does not see are told with part=hidden alone."
        })
      ),
    HttpApiEndpoint.get("attachment", "/api/domains/:id/events/:eventId/attachments/:index", {
      ...MailParts.attachment,
      params: { id: DomainId, ...MailParts.attachment.params }
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Download an attachment",
          description: "The decoded bytes, by the index that the event gives, as a download under its own type."
        })
      ),
    HttpApiEndpoint.post("replay", "/api/domains/:id/events/:eventId/replay", {
      params: { id: DomainId, eventId: EventId },
      query: { force: Schema.optionalKey(Schema.Literals(["true", "false"])) },
      headers: Idempotency.headers,
      success: Schema.Struct({ event_id: EventId, delivery: Delivery }).pipe(HttpApiSchema.status(202)),
      error: [NotFound.http, Conflict.http, TooManyRequests.http]
    })
      .middleware(Idempotency.Idempotency)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Deliver an event again",
          description:
            "Queued at once with a fresh attempt budget. 409 when it is already delivered (unless force=true), when no webhook is set, or when the domain is disabled. 429 beyond 60 replays a minute or 2,000 a day."
        })
      ),
    HttpApiEndpoint.get("deliveryAttempts", "/api/domains/:id/delivery-attempts", {
      params: { id: DomainId },
      query: {
        limit: PageQuery.Limit,
        cursor: Schema.optionalKey(Schema.String),
        event_id: Schema.optionalKey(EventId)
      },
      success: Schema.Struct({ deliveryAttempts: Schema.Array(DeliveryAttempt), next_cursor: PageQuery.NextCursor }),
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(OpenApi.annotations({ summary: "List webhook requests, newest first" }))
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Events", description: "What came in, and what became of its delivery" })
  ) {}
