import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Conflict, Forbidden, Invalid, NotFound, TooLarge, TooManyRequests, Unavailable } from "../../model/ApiError.ts"
import { DomainId, DomainName } from "../../model/Domain.ts"
import { InboundEmailId } from "../../model/InboundEmail.ts"
import { EventId, InboundEvent } from "../../model/InboundEvent.ts"
import { SampleName } from "../../simulate/Sample.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import { LastEventId } from "../requests/LastEventId.ts"
import * as MailParts from "../requests/MailParts.ts"
import * as PageQuery from "../requests/PageQuery.ts"
import { DemoAuthorization } from "./DemoAuthorization.ts"

const DemoInbox = Schema.Struct({
  address: Schema.String.annotate({ description: "inbox@<slug>.inbox.<platform domain>. Every local part works" }),
  domain_id: DomainId,
  domain: DomainName
})

export class DemoApi extends HttpApiGroup.make("demo")
  .add(
    HttpApiEndpoint.get("events", "/api/demo/events", {
      query: {
        cursor: Schema.optionalKey(Schema.String.annotate({ description: "`next_cursor` of the previous page" }))
      },
      success: Schema.Struct({ events: Schema.Array(InboundEvent), next_cursor: PageQuery.NextCursor }),
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List the mail of the demo inbox, newest first",
        description:
          "Requires the cookie `inlet_demo`. Each event is a webhook payload. A page has up to 4 MiB. Continue while `next_cursor` is not null."
      })
    ),
    HttpApiEndpoint.get("stream", "/api/demo/events/stream", {
      headers: { "last-event-id": LastEventId },
      success: HttpApiSchema.StreamSse({ data: InboundEvent }),
      error: [Invalid.http, NotFound.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Stream the mail of the demo inbox",
        description:
          "Requires the cookie `inlet_demo`. Server-sent events, oldest first, from now or after Last-Event-ID (an event id), until the inbox expires."
      })
    ),
    HttpApiEndpoint.get("content", "/api/demo/events/:eventId/content", MailParts.content).annotateMerge(
      OpenApi.annotations({
        summary: "Read the content of a mail",
        description: "Requires the cookie `inlet_demo`. See `GET /api/domains/{id}/events/{eventId}/content`."
      })
    ),
    HttpApiEndpoint.post("simulate", "/api/demo/simulate", {
      payload: Schema.Struct({ sample: SampleName }),
      success: Schema.Struct({ inbound_email_id: InboundEmailId }).pipe(HttpApiSchema.status(202)),
      error: [Invalid.http, Conflict.http, TooLarge.http, TooManyRequests.http, Unavailable.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Simulate a sample mail",
        description:
          "Requires the cookie `inlet_demo`. Works like `POST /api/domains/{id}/simulate` with `sample`, and counts toward the inbox's 20 mails."
      })
    ),
    HttpApiEndpoint.get("raw", "/api/demo/events/:eventId/raw", MailParts.raw).annotateMerge(
      OpenApi.annotations({
        summary: "Download the raw message of a mail",
        description: "Requires the cookie `inlet_demo`. Returns the .eml as received."
      })
    ),
    HttpApiEndpoint.get(
      "attachment",
      "/api/demo/events/:eventId/attachments/:index",
      MailParts.attachment
    ).annotateMerge(
      OpenApi.annotations({
        summary: "Download an attachment of a mail",
        description: "Requires the cookie `inlet_demo`. Returns the decoded bytes as a download."
      })
    ),
    HttpApiEndpoint.get("html", "/api/demo/events/:eventId/html", {
      params: { eventId: EventId },
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/html; charset=utf-8" }),
      error: NotFound.http
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Get the HTML part of a mail for a frame",
        description:
          "Requires the cookie `inlet_demo`. Contains no scripts, forms, links or remote content, and is sandboxed by its Content-Security-Policy."
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(DemoAuthorization)
  .add(
    HttpApiEndpoint.post("inbox", "/api/demo/inbox", {
      success: [DemoInbox.pipe(HttpApiSchema.status(201)), DemoInbox.pipe(HttpApiSchema.status(200))],
      error: [Forbidden.http, TooManyRequests.http]
    })
      .middleware(KnownParameters)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a demo inbox",
          description:
            "201 with a new inbox and its cookie `inlet_demo`, or 200 with the inbox of the cookie. It takes 20 mails and expires after 24 hours. In production a client address may create as many per day as workspaces, else 429. 403 with `WORKSPACE_CREATION=admin`."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ title: "Demo", description: "A trial inbox, used by the page at `/`" })) {}
