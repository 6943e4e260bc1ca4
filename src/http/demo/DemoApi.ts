import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Conflict, Invalid, NotFound, TooLarge, TooManyRequests, Unavailable } from "../../model/ApiError.ts"
import { DomainId, DomainName } from "../../model/Domain.ts"
import { InboundEmailId } from "../../model/InboundEmail.ts"
import { EventId, InboundEvent } from "../../model/InboundEvent.ts"
import { SampleName } from "../../simulate/Sample.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as MailParts from "../requests/MailParts.ts"
import * as PageQuery from "../requests/PageQuery.ts"
import { DemoAuthorization } from "./DemoAuthorization.ts"

const DemoInbox = Schema.Struct({
  address: Schema.String.annotate({ description: "inbox@<slug>.inbox.<platform domain>; every local part works" }),
  domain_id: DomainId,
  domain: DomainName
})

export class DemoApi extends HttpApiGroup.make("demo")
  .add(
    HttpApiEndpoint.get("events", "/api/demo/events", {
      query: {
        cursor: Schema.optionalKey(Schema.String.annotate({ description: "`next_cursor` of the page before" }))
      },
      success: Schema.Struct({ events: Schema.Array(InboundEvent), next_cursor: PageQuery.NextCursor }),
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List what the demo inbox received, newest first",
        description:
          "Needs the cookie `inlet_demo`. Each event is what a webhook would get. A page ends at 4 MiB: go on while `next_cursor` is not null."
      })
    ),
    HttpApiEndpoint.get("stream", "/api/demo/events/stream", {
      headers: { "last-event-id": Schema.optionalKey(Schema.String) },
      success: HttpApiSchema.StreamSse({ data: InboundEvent }),
      error: [Invalid.http, NotFound.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Follow the demo inbox",
        description:
          "Needs the cookie `inlet_demo`. Server-sent events, oldest first, from now on or after Last-Event-ID (the id of an event), until the inbox is over."
      })
    ),
    HttpApiEndpoint.get("content", "/api/demo/events/:eventId/content", MailParts.content).annotateMerge(
      OpenApi.annotations({
        summary: "Read the content of a mail",
        description:
          "Needs the cookie `inlet_demo`. As an agent reads it: see `GET /api/domains/{id}/events/{eventId}/content`."
      })
    ),
    HttpApiEndpoint.post("simulate", "/api/demo/simulate", {
      payload: Schema.Struct({ sample: SampleName }),
      success: Schema.Struct({ inbound_email_id: InboundEmailId }).pipe(HttpApiSchema.status(202)),
      error: [Invalid.http, Conflict.http, TooLarge.http, TooManyRequests.http, Unavailable.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Receive a sample",
        description:
          "Needs the cookie `inlet_demo`. As `POST /api/domains/{id}/simulate` does with `sample`; it is one of the inbox's 20 mails."
      })
    ),
    HttpApiEndpoint.get("raw", "/api/demo/events/:eventId/raw", MailParts.raw).annotateMerge(
      OpenApi.annotations({
        summary: "Download the raw message of a mail",
        description: "Needs the cookie `inlet_demo`. The .eml as received."
      })
    ),
    HttpApiEndpoint.get(
      "attachment",
      "/api/demo/events/:eventId/attachments/:index",
      MailParts.attachment
    ).annotateMerge(
      OpenApi.annotations({
        summary: "Download an attachment of a mail",
        description: "Needs the cookie `inlet_demo`. The decoded bytes, as a download."
      })
    ),
    HttpApiEndpoint.get("html", "/api/demo/events/:eventId/html", {
      params: { eventId: EventId },
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/html; charset=utf-8" }),
      error: NotFound.http
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Show the HTML part of a mail in a frame",
        description:
          "Needs the cookie `inlet_demo`. Without scripts, forms, links and anything remote, and sandboxed by its Content-Security-Policy."
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(DemoAuthorization)
  .add(
    HttpApiEndpoint.post("inbox", "/api/demo/inbox", {
      success: [DemoInbox.pipe(HttpApiSchema.status(201)), DemoInbox.pipe(HttpApiSchema.status(200))],
      error: TooManyRequests.http
    })
      .middleware(KnownParameters)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a demo inbox",
          description:
            "201 for a new inbox and the cookie `inlet_demo` that opens it, 200 for the one of the cookie. It takes 20 mails and goes after 24 hours. In production an address can make as many as workspaces in a day (429)."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ title: "Demo", description: "An inbox for trying, behind the page at `/`" })) {}
