import { Effect, Redacted } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { DemoInboxes, lifetimeSeconds } from "../../demo/DemoInboxes.ts"
import { EventContents } from "../../events/EventContents.ts"
import { Events } from "../../events/Events.ts"
import { RawMessages } from "../../events/RawMessages.ts"
import { Forbidden } from "../../model/ApiError.ts"
import * as Settings from "../../Settings.ts"
import * as Sample from "../../simulate/Sample.ts"
import { Simulation } from "../../simulate/Simulation.ts"
import { AnswerRoom } from "../answers/AnswerRoom.ts"
import * as Download from "../answers/Download.ts"
import * as EventPage from "../answers/EventPage.ts"
import * as EventStream from "../answers/EventStream.ts"
import * as HtmlPart from "../answers/HtmlPart.ts"
import * as ClientAddress from "../requests/ClientAddress.ts"
import { requestOf } from "../requests/ContentQuery.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { OpenRequests } from "../requests/OpenRequests.ts"
import { DemoApi } from "./DemoApi.ts"
import { CurrentDemoInbox, cookieName } from "./DemoAuthorization.ts"

/** More events than a demo inbox holds, unless they are large. */
const eventsOnAPage = 100

/** Enough for some tabs. A stream costs a database query every second. */
const streamsPerInbox = 5

export const layer = HttpApiBuilder.group(
  GroupApi.of(DemoApi),
  "demo",
  Effect.fn(function* (handlers) {
    const inboxes = yield* DemoInboxes
    const events = yield* Events
    const contents = yield* EventContents
    const open = yield* OpenRequests
    const messages = yield* RawMessages
    const simulation = yield* Simulation
    const room = yield* AnswerRoom
    const { production } = yield* Settings.http
    const { trustProxy, workspaceCreation } = yield* Settings.clients

    return handlers.handleAll({
      inbox: Effect.fnUntraced(function* () {
        if (workspaceCreation === "admin") {
          return yield* new Forbidden({
            message: "This service is not public. Ask its operator for a key, and sign in at /console"
          })
        }
        const request = yield* HttpServerRequest.HttpServerRequest
        // The browser sends no cookie with it, so a page elsewhere would replace the visitor's inbox.
        if (request.headers["sec-fetch-site"] === "cross-site") {
          return yield* new Forbidden({
            message: "Another site cannot create a demo inbox. Open the page `/` of this service"
          })
        }
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
      events: Effect.fnUntraced(function* ({ query }) {
        const { domainId } = yield* CurrentDemoInbox
        const { items, nextCursor } = yield* events.list(
          domainId,
          {},
          {
            limit: eventsOnAPage,
            order: "desc",
            cursor: query.cursor
          }
        )
        return yield* EventPage.toResponse(
          { items, nextCursor },
          {
            room,
            payloads: (listed) => events.payloads(domainId, listed),
            encode: ({ payload }) => [payload],
            headers: { "cache-control": "no-store" }
          }
        )
      }),
      stream: Effect.fnUntraced(function* ({ headers }) {
        const { domainId, secondsLeft } = yield* CurrentDemoInbox
        yield* open.take(domainId, streamsPerInbox)
        return yield* EventStream.toResponse({
          events: yield* events.follow(domainId, headers["last-event-id"]),
          room,
          payloads: (listed) => events.payloads(domainId, listed),
          end: Effect.sleep(`${secondsLeft} seconds`)
        })
      }),
      content: Effect.fnUntraced(function* ({ params, query }) {
        const { domainId } = yield* CurrentDemoInbox
        return yield* contents.read(domainId, params.eventId, requestOf(query), room.reserve)
      }),
      simulate: Effect.fnUntraced(function* ({ payload }) {
        const inbox = yield* CurrentDemoInbox
        const draft = Sample.of(payload.sample, `inbox@${inbox.domain}`)
        // A sample is small and does not count toward the message memory.
        const message = yield* simulation.compose(inbox, () => draft, { reserve: () => true })
        const id = yield* simulation.receive(inbox, { message, from: draft.returnPath })
        return { inbound_email_id: id }
      }),
      raw: Effect.fnUntraced(function* ({ params }) {
        const { domainId } = yield* CurrentDemoInbox
        return Download.message(params.eventId, yield* messages.get(domainId, params.eventId, room.reserve))
      }),
      attachment: Effect.fnUntraced(function* ({ params }) {
        const { domainId } = yield* CurrentDemoInbox
        return Download.attachment(yield* messages.attachment(domainId, params.eventId, params.index, room.reserve))
      }),
      html: Effect.fnUntraced(function* ({ params }) {
        const { domainId } = yield* CurrentDemoInbox
        const listed = yield* events.get(domainId, params.eventId)
        yield* room.reserve(listed.bytes)
        const { payload } = yield* events.payload(domainId, listed)
        return yield* HtmlPart.answer(yield* contents.page(payload))
      })
    })
  })
)
