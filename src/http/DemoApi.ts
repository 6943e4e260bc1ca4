import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Invalid, NotFound, TooManyRequests } from "../model/ApiError.ts"
import { DomainId, DomainName } from "../model/Domain.ts"
import { EventId, InboundEvent } from "../model/InboundEvent.ts"
import { DemoAuthorization } from "./DemoAuthorization.ts"

const DemoInbox = Schema.Struct({
  address: Schema.String.annotate({ description: "inbox@<slug>.inbox.<platform domain>; every local part works" }),
  domain_id: DomainId,
  domain: DomainName
})

export class DemoApi extends HttpApiGroup.make("demo")
  .add(
    HttpApiEndpoint.get("events", "/api/demo/events", {
      success: Schema.Struct({ events: Schema.Array(InboundEvent) })
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List what the demo inbox received, newest first",
        description: "Needs the cookie `inlet_demo`. Each event is what a webhook would get."
      })
    ),
    HttpApiEndpoint.get("stream", "/api/demo/events/stream", {
      headers: { "last-event-id": Schema.optionalKey(Schema.String) },
      success: HttpApiSchema.StreamSse({ data: InboundEvent }),
      error: [Invalid.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Follow the demo inbox",
        description:
          "Needs the cookie `inlet_demo`. Server-sent events, oldest first, from now on or after Last-Event-ID, until the inbox is over."
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
  .middleware(DemoAuthorization)
  .add(
    HttpApiEndpoint.post("inbox", "/api/demo/inbox", {
      success: [DemoInbox.pipe(HttpApiSchema.status(201)), DemoInbox.pipe(HttpApiSchema.status(200))],
      error: TooManyRequests.http
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Get a demo inbox",
        description:
          "201 for a new inbox and the cookie `inlet_demo` that opens it, 200 for the one of the cookie. It takes 20 mails and goes after 24 hours. In production an address can make as many as workspaces in a day (429)."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Demo", description: "An inbox for trying, behind the page at `/`" })) {}
