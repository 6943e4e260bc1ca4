import { Effect, Redacted } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { DemoInboxes, lifetimeSeconds } from "../demo/DemoInboxes.ts"
import * as SafeHtml from "../demo/SafeHtml.ts"
import { Events } from "../events/Events.ts"
import { NotFound } from "../model/ApiError.ts"
import * as Settings from "../Settings.ts"
import { Api } from "./Api.ts"
import * as ClientAddress from "./ClientAddress.ts"
import { CurrentDemoInbox, cookieName } from "./DemoAuthorization.ts"
import * as EventStream from "./EventStream.ts"
import { OpenRequests } from "./OpenRequests.ts"

/** More than a demo inbox takes. */
const everyEvent = 100

/** A tab or two; a stream costs a look at the database every second. */
const streamsPerInbox = 5

export const layer = HttpApiBuilder.group(
  Api,
  "demo",
  Effect.fn(function* (handlers) {
    const inboxes = yield* DemoInboxes
    const events = yield* Events
    const open = yield* OpenRequests
    const { production } = yield* Settings.http
    const { trustProxy } = yield* Settings.clients

    return handlers.handleAll({
      inbox: Effect.fnUntraced(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const cookie = request.cookies[cookieName]
        const { inbox, newCookie } = yield* inboxes.open(
          cookie === undefined ? undefined : Redacted.make(cookie),
          ClientAddress.of(request, trustProxy)
        )
        const body = { address: `inbox@${inbox.domain}`, domain_id: inbox.domainId, domain: inbox.domain }
        if (newCookie === undefined) return HttpServerResponse.jsonUnsafe(body, { status: 200 })
        return HttpServerResponse.jsonUnsafe(body, { status: 201 }).pipe(
          HttpServerResponse.setCookieUnsafe(cookieName, Redacted.value(newCookie), {
            httpOnly: true,
            sameSite: "lax",
            path: "/",
            secure: production,
            maxAge: `${lifetimeSeconds} seconds`
          })
        )
      }),
      events: Effect.fnUntraced(function* () {
        const { domainId } = yield* CurrentDemoInbox
        const { items } = yield* Effect.orDie(events.list(domainId, {}, { limit: everyEvent }))
        return HttpServerResponse.text(`{"events":[${items.map(({ payload }) => payload).join(",")}]}`, {
          contentType: "application/json",
          headers: { "cache-control": "no-store" }
        })
      }),
      stream: Effect.fnUntraced(function* ({ headers }) {
        const { domainId, secondsLeft } = yield* CurrentDemoInbox
        yield* open.take(domainId, streamsPerInbox)
        const following = yield* events.follow(domainId, headers["last-event-id"])
        return EventStream.toResponse(following, Effect.sleep(`${secondsLeft} seconds`))
      }),
      html: Effect.fnUntraced(function* ({ params }) {
        const { domainId } = yield* CurrentDemoInbox
        const html = SafeHtml.ofEvent((yield* events.get(domainId, params.eventId)).payload)
        if (html === null) return yield* new NotFound({ message: "This mail has no HTML part" })
        return HttpServerResponse.text(SafeHtml.page(html), {
          contentType: "text/html; charset=utf-8",
          headers: { ...SafeHtml.headers, "cache-control": "no-store" }
        })
      })
    })
  })
)
