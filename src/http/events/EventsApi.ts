import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { SignedRequest } from "../../delivery/RequestSigner.ts"
import { mostSearched } from "../../events/Attempts.ts"
import { BriefEvent } from "../../events/BriefEvent.ts"
import { mostExamined } from "../../events/WorkspaceEvents.ts"
import { Conflict, Invalid, NotFound, TooManyRequests, Unauthorized, Unavailable } from "../../model/ApiError.ts"
import { Delivery, DeliveryAttempt, DeliveryStatus } from "../../model/Delivery.ts"
import { DomainId, DomainName } from "../../model/Domain.ts"
import { EventId, InboundEvent } from "../../model/InboundEvent.ts"
import { WebhookId } from "../../model/Webhook.ts"
import * as AddressQuery from "../requests/AddressQuery.ts"
import { Authorization } from "../requests/Authorization.ts"
import * as Idempotency from "../requests/Idempotency.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import { LastEventId } from "../requests/LastEventId.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"
import * as MailParts from "../requests/MailParts.ts"
import * as PageQuery from "../requests/PageQuery.ts"
import * as ReadKeys from "../requests/ReadKeys.ts"
import * as TimeQuery from "../requests/TimeQuery.ts"
import * as EventFilters from "./EventFilters.ts"

const ListedEvent = Schema.Struct({ ...InboundEvent.fields, delivery: Delivery }).annotate({
  identifier: "ListedEvent"
})

/** An event in the list over all domains. */
const WorkspaceEvent = Schema.Struct({ ...ListedEvent.fields, domain_id: DomainId }).annotate({
  identifier: "WorkspaceEvent"
})

const BriefWorkspaceEvent = Schema.Struct({ ...BriefEvent.fields, domain: DomainName, domain_id: DomainId }).annotate({
  identifier: "BriefWorkspaceEvent"
})

const Order = Schema.Literals(["asc", "desc"])

const CursorNow = Schema.String.annotate({
  description: "the current position, also without events. Pass it as `after` to get later mail"
})

export class EventsApi extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("list", "/api/domains/:id/events", {
      params: { id: DomainId },
      query: {
        limit: PageQuery.Limit,
        cursor: Schema.optionalKey(
          Schema.String.annotate({
            description: "`next_cursor` of the previous page, with the same `order` and filters"
          })
        ),
        order: Schema.optionalKey(
          Order.annotate({
            description: "`desc` for newest first (default), `asc` for oldest first"
          })
        ),
        recipient: Schema.optionalKey(AddressQuery.Recipient),
        from: Schema.optionalKey(AddressQuery.Address),
        since: TimeQuery.time("received at this time or later"),
        until: TimeQuery.time("received at this time or earlier"),
        delivery: Schema.optionalKey(DeliveryStatus.annotate({ description: "events whose delivery has this status" })),
        ...EventFilters.query,
        after: Schema.optionalKey(
          Schema.String.annotate({
            description:
              "only events after this position: a `cursor_now`, an event id, `latest` for events from now on, or `start` for all stored events"
          })
        ),
        wait: Schema.optionalKey(
          PageQuery.between(0, 60, "seconds to hold the answer while nothing matches; only new events end the wait")
        )
      },
      success: Schema.Struct({
        events: Schema.Union([Schema.Array(ListedEvent), Schema.Array(BriefEvent)]),
        next_cursor: PageQuery.NextCursor,
        cursor_now: CursorNow,
        hint: Schema.optionalKey(
          Schema.String.annotate({
            description:
              "after a wait without mail: what was refused meanwhile and why, or that mail came which is held, lacks what `has` asks for, or has an author that is not confirmed as `fromDomain`"
          })
        )
      }),
      error: [Invalid.http, Unauthorized.http, NotFound.http, TooManyRequests.http]
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List events, newest first",
          description:
            "Each event has its webhook payload and its delivery. With `wait` Inlet holds the request until an event matches, and answers an empty list after that time. `wait` excludes `cursor`. Existing events end a wait at once. To wait for new mail only, take `cursor_now` from a list, trigger the mail, and wait with it as `after`. To catch up, list with `after` and `order=asc`, follow `next_cursor` until null, then continue from `cursor_now`. Filters on subject, `recipientPart`, `fromPart`, tag, thread, sender, `fromDomain`, `has` other than `code`, `has` with `delivery`, and `delivery=delivered` search up to 5,000 events per request without `wait`. Continue while `next_cursor` is not null, also after an empty page."
        })
      ),
    HttpApiEndpoint.get("listAll", "/api/events", {
      query: {
        limit: PageQuery.Limit,
        cursor: PageQuery.Cursor,
        recipient: Schema.optionalKey(AddressQuery.Recipient),
        from: Schema.optionalKey(AddressQuery.Address),
        since: TimeQuery.time("received at this time or later"),
        until: TimeQuery.time("received at this time or earlier"),
        delivery: Schema.optionalKey(DeliveryStatus.annotate({ description: "events whose delivery has this status" })),
        ...EventFilters.query
      },
      success: Schema.Struct({
        events: Schema.Union([Schema.Array(WorkspaceEvent), Schema.Array(BriefWorkspaceEvent)]),
        next_cursor: PageQuery.NextCursor
      }),
      error: [Invalid.http, Unauthorized.http, TooManyRequests.http]
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the events of all domains, newest first",
          description: `Each event names its domain. Filters without an index, and \`delivery=delivered\`, search up to ${mostExamined.toLocaleString("en")} events per request. Continue while \`next_cursor\` is not null, also after an empty page. To wait for mail or to catch up, use the list of a domain.`
        })
      ),
    HttpApiEndpoint.get("stream", "/api/domains/:id/events/stream", {
      params: { id: DomainId },
      query: {
        recipient: Schema.optionalKey(AddressQuery.Recipient),
        from: Schema.optionalKey(AddressQuery.Address),
        ...EventFilters.query,
        signed: Schema.optionalKey(
          Schema.Literals(["true", "false"]).annotate({
            description:
              "`true` returns each event as its signed webhook request. Requires the workspace's own key and excludes `view`",
            message: "Expected true or false"
          })
        )
      },
      headers: { "last-event-id": LastEventId },
      success: HttpApiSchema.StreamSse({ data: Schema.Union([InboundEvent, BriefEvent, SignedRequest]) }),
      error: [Invalid.http, NotFound.http, TooManyRequests.http]
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Stream events",
          description:
            "Server-sent events, oldest first, from now or after Last-Event-ID (an event id, a `cursor_now`, or `start` for all stored events). Each has its event_id as id and the webhook payload as data. With `signed=true` the data is `{headers, body}`. Post that body unchanged with these headers within 300 s to repeat the webhook request without the signing secret. Deliveries do not change. When the domain is removed, the stream ends with `event: end`."
        })
      ),
    HttpApiEndpoint.get("find", "/api/events/:eventId", {
      params: { eventId: EventId },
      success: WorkspaceEvent,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an event of any domain",
          description: "For programs that know the id of an event and not its domain, which the answer names."
        })
      ),
    HttpApiEndpoint.get("get", "/api/domains/:id/events/:eventId", {
      params: { id: DomainId, eventId: EventId },
      success: ListedEvent,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(OpenApi.annotations({ summary: "Get one event" })),
    HttpApiEndpoint.get("raw", "/api/domains/:id/events/:eventId/raw", {
      ...MailParts.raw,
      params: { id: DomainId, ...MailParts.raw.params }
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Download the raw message",
          description:
            "Returns the .eml as received, after Inlet's Authentication-Results, Return-Path and Received fields."
        })
      ),
    HttpApiEndpoint.get("content", "/api/domains/:id/events/:eventId/content", {
      ...MailParts.content,
      params: { id: DomainId, ...MailParts.content.params }
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Read the content of an event",
          description:
            "Returns the visible text of the mail for agents, as Markdown without images, with numbered links, in pieces. Only part=hidden returns hidden words."
        })
      ),
    HttpApiEndpoint.get("attachment", "/api/domains/:id/events/:eventId/attachments/:index", {
      ...MailParts.attachment,
      params: { id: DomainId, ...MailParts.attachment.params }
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Download an attachment",
          description:
            "Returns the decoded bytes as a download with the attachment's own type. The event has the index."
        })
      ),
    HttpApiEndpoint.get("html", "/api/domains/:id/events/:eventId/html", {
      params: { id: DomainId, eventId: EventId },
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/html; charset=utf-8" }),
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the HTML part of a mail for a frame",
          description:
            "Contains no scripts, forms, links or remote content, and is sandboxed by its Content-Security-Policy. 404 without an HTML part."
        })
      ),
    HttpApiEndpoint.get("signed", "/api/domains/:id/events/:eventId/signed", {
      params: { id: DomainId, eventId: EventId },
      success: SignedRequest,
      error: [NotFound.http, Unavailable.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Get the signed webhook request of an event",
        description:
          "Returns the body and headers of the webhook request, signed now. Post the body unchanged within 300 s to test an app. Deliveries do not change."
      })
    ),
    HttpApiEndpoint.post("replay", "/api/domains/:id/events/:eventId/replay", {
      params: { id: DomainId, eventId: EventId },
      query: {
        force: Schema.optionalKey(
          Schema.Literals(["true", "false"]).annotate({
            description: "`true` delivers an event again that was delivered before"
          })
        ),
        webhook: Schema.optionalKey(
          WebhookId.annotate({ description: "sends it to this webhook of the domain. By default to its own" })
        )
      },
      headers: Idempotency.headers,
      success: Schema.Struct({ event_id: EventId, delivery: Delivery }).pipe(HttpApiSchema.status(202)),
      error: [NotFound.http, Conflict.http, TooManyRequests.http]
    })
      .middleware(Idempotency.Idempotency)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Deliver an event again",
          description:
            "Queues the delivery at once with all attempts. 409 if it is already delivered (unless force=true), if its webhook takes none, if a sender rule, the mail scanner or the loop guard holds it (release it instead), or if the domain is disabled. 429 beyond 60 replays a minute or 2,000 a day."
        })
      ),
    HttpApiEndpoint.post("deliverNow", "/api/domains/:id/events/:eventId/deliver-now", {
      params: { id: DomainId, eventId: EventId },
      success: Schema.Struct({ event_id: EventId, delivery: Delivery }).pipe(HttpApiSchema.status(202)),
      error: [NotFound.http, Conflict.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Make the next attempt now",
        description:
          "For a pending delivery that waits for its next attempt. If the attempt fails, the delivery has its next one at the time it had before, and this one does not count. 409 if there is no attempt to make: the event is delivered, dead or held, the webhook is paused, or an attempt is in progress. Counts as a replay: 429 beyond 60 a minute or 2,000 a day."
      })
    ),
    HttpApiEndpoint.get("deliveryAttempts", "/api/domains/:id/delivery-attempts", {
      params: { id: DomainId },
      query: {
        limit: PageQuery.Limit,
        cursor: PageQuery.Cursor,
        event_id: Schema.optionalKey(EventId.annotate({ description: "attempts of this event" })),
        ok: Schema.optionalKey(
          Schema.Literals(["true", "false"]).annotate({
            description: "`true` for successful attempts, `false` for failed ones",
            message: "Expected true or false"
          })
        ),
        status_code: Schema.optionalKey(PageQuery.between(100, 599, "status code of the webhook")),
        since: TimeQuery.time("requested at this time or later")
      },
      success: Schema.Struct({ deliveryAttempts: Schema.Array(DeliveryAttempt), next_cursor: PageQuery.NextCursor }),
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List delivery attempts, newest first",
        description: `\`ok\` and \`status_code\` search up to ${mostSearched.toLocaleString("en")} attempts per request. Continue while \`next_cursor\` is not null, also after an empty page.`
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Events", description: "Received mail and its deliveries" })) {}
