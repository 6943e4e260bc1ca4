import { DateTime, Duration, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as Signer from "../../delivery/RequestSigner.ts"
import { Domains } from "../../domains/Domains.ts"
import { Attempts } from "../../events/Attempts.ts"
import { EventContents } from "../../events/EventContents.ts"
import * as EventDomain from "../../events/EventDomain.ts"
import type { LoadedEvent } from "../../events/EventQuery.ts"
import { Events } from "../../events/Events.ts"
import * as PassedOver from "../../events/PassedOver.ts"
import * as RawMessages from "../../events/RawMessages.ts"
import { WorkspaceEvents } from "../../events/WorkspaceEvents.ts"
import { Invalid } from "../../model/ApiError.ts"
import type { DomainId } from "../../model/Domain.ts"
import type { EventId } from "../../model/InboundEvent.ts"
import { catchAllOf } from "../../model/Webhook.ts"
import { Refusals } from "../../refusals/Refusals.ts"
import { Webhooks } from "../../webhooks/Webhooks.ts"
import { WorkspaceLimits } from "../../workspaces/WorkspaceLimits.ts"
import { AnswerRoom } from "../answers/AnswerRoom.ts"
import * as Download from "../answers/Download.ts"
import * as EventPage from "../answers/EventPage.ts"
import * as EventStream from "../answers/EventStream.ts"
import * as HtmlPart from "../answers/HtmlPart.ts"
import * as AddressQuery from "../requests/AddressQuery.ts"
import { Authorization } from "../requests/Authorization.ts"
import { requestOf } from "../requests/ContentQuery.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { LimitedCursors } from "../requests/LimitedCursors.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"
import { OpenRequests } from "../requests/OpenRequests.ts"
import * as TimeQuery from "../requests/TimeQuery.ts"
import { encodeBrief, encodeBriefWithDomain, encodeListed, encodeListedWithDomain } from "./EncodedEvent.ts"
import * as EventFilters from "./EventFilters.ts"
import { EventsApi } from "./EventsApi.ts"

const eventsOnAPage = 50

export const layer = HttpApiBuilder.group(
  GroupApi.of(EventsApi),
  "events",
  Effect.fn(function* (handlers) {
    const domains = yield* Domains
    const events = yield* Events
    const webhooks = yield* Webhooks
    const everywhere = yield* WorkspaceEvents
    const attempts = yield* Attempts
    const messages = yield* RawMessages.RawMessages
    const contents = yield* EventContents
    const refusals = yield* Refusals
    const open = yield* OpenRequests
    const room = yield* AnswerRoom
    const limits = yield* WorkspaceLimits
    const cursors = yield* LimitedCursors
    const signer = yield* Signer.RequestSigner
    const domainOf = yield* EventDomain.find

    /** The domain, if it is in this workspace. */
    const owned = (id: DomainId) =>
      CurrentWorkspace.use((workspace) =>
        Effect.map(LimitedKeys.domainOf(domains, workspace, id), ({ domain }) => ({
          domain,
          domainId: id,
          workspaceId: workspace.id,
          scope: workspace.scope,
          only: workspace.limit?.pattern,
          holder: workspace,
          untilReplaced: workspace.untilReplaced
        }))
      )

    /** The domain of an event, if the key may see both. */
    const ownedOf = Effect.fnUntraced(function* ({
      eventId,
      id
    }: {
      readonly id: DomainId
      readonly eventId: EventId
    }) {
      const owner = yield* owned(id)
      yield* events.demand(id, eventId, owner.only)
      return owner
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ params, query }) {
        const { domain, domainId, holder, only, untilReplaced, workspaceId } = yield* owned(params.id)
        const {
          after: givenAfter,
          cursor: given,
          limit = eventsOnAPage,
          order = "desc",
          view,
          wait = 0,
          ...asked
        } = query
        if (wait > 0 && given !== undefined) {
          return yield* new Invalid({ message: "wait: Expected no cursor beside it. A wait returns new events only" })
        }
        yield* TimeQuery.requireOrder(asked)
        yield* AddressQuery.requireAt(domain, asked.recipient)
        if (wait > 0) yield* open.take(workspaceId)
        const cursor = yield* cursors.open(holder, given)
        const after = yield* cursors.open(holder, givenAfter)
        const filter = { ...(yield* EventFilters.toFilter(asked, wait > 0 ? "passed" : "all")), after, only }
        const began = yield* DateTime.now
        const page =
          wait > 0
            ? yield* Effect.raceFirst(
                events.wait(domainId, filter, { limit, order, time: Duration.seconds(wait) }),
                untilReplaced
              )
            : yield* events.list(domainId, filter, { limit, order, cursor })
        const isInVain = wait > 0 && page.items.length === 0
        const refused = isInVain ? yield* refusals.during({ id: domainId }, began, only) : null
        const passedOver =
          isInVain && refused === null ? yield* PassedOver.reason(events, domainId, filter, began) : null
        const hint =
          refused === null
            ? hintOf(passedOver, filter)
            : `${refused}. GET /api/trace?to=${domain} says why, and what to do`
        return yield* EventPage.toResponse(
          {
            ...page,
            nextCursor: yield* cursors.seal(holder, page.nextCursor),
            cursorNow: yield* cursors.seal(holder, page.cursorNow),
            hint
          },
          {
            room,
            payloads: (listed) => events.payloads(domainId, listed),
            encode: view === "brief" ? encodeBrief : encodeListed,
            untilReplaced
          }
        )
      }),
      listAll: Effect.fnUntraced(function* ({ query }) {
        const holder = yield* CurrentWorkspace
        const { id, limit: only, untilReplaced } = holder
        const { cursor: given, limit = eventsOnAPage, view, ...asked } = query
        yield* TimeQuery.requireOrder(asked)
        const filter = { ...(yield* EventFilters.toFilter(asked)), only: only?.pattern }
        const cursor = yield* cursors.open(holder, given)
        const page = yield* everywhere.list(id, filter, { limit, cursor, domainId: only?.domainId ?? undefined })
        const nextCursor = yield* cursors.seal(holder, page.nextCursor)
        return yield* EventPage.toResponse(
          { ...page, nextCursor },
          {
            room,
            payloads: everywhere.payloads,
            encode: view === "brief" ? encodeBriefWithDomain : encodeListedWithDomain,
            untilReplaced
          }
        )
      }),
      stream: Effect.fnUntraced(function* ({ headers, params, query }) {
        const { domain, domainId, holder, only, scope, untilReplaced, workspaceId } = yield* owned(params.id)
        const { signed, view, ...asked } = query
        yield* AddressQuery.requireAt(domain, asked.recipient)
        const isSigned = signed === "true"
        if (isSigned && scope === "read") return yield* Authorization.refusal("signed=true")
        if (isSigned && view !== undefined) {
          return yield* new Invalid({
            message: "signed: Leave out view, because only whole events are signed"
          })
        }
        // Its secret signs the events, so it must be one of this domain.
        const webhookId = asked.webhook ?? catchAllOf(domainId)
        if (isSigned) yield* webhooks.get(domainId, webhookId)
        yield* open.take(workspaceId)
        const filter = { ...(yield* EventFilters.toFilter(asked, "passed")), only }
        return yield* EventStream.toResponse({
          events: yield* events.follow(domainId, yield* cursors.open(holder, headers["last-event-id"]), filter),
          room,
          ...(isSigned
            ? // Read again for each few events, so that a rotation of the secret takes effect.
              {
                encoder: Effect.map(signer.of(workspaceId, webhookId), (sign) => encodeSigned(sign)),
                growth: Signer.growth
              }
            : view === "brief"
              ? { encoder: Effect.succeed((event: LoadedEvent) => Effect.succeed(encodeBrief(event))) }
              : {}),
          payloads: (listed) => events.payloads(domainId, listed),
          end: Effect.exit(untilReplaced)
        })
      }),
      find: Effect.fnUntraced(function* ({ params }) {
        const domainId = yield* domainOf(yield* CurrentWorkspace, params.eventId)
        const { domain } = yield* owned(domainId)
        const listed = yield* events.get(domainId, params.eventId)
        yield* room.reserve(listed.bytes)
        return json(encodeListedWithDomain({ ...(yield* events.payload(domainId, listed)), domain, domainId }).join(""))
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        const { domainId } = yield* ownedOf(params)
        const listed = yield* events.get(domainId, params.eventId)
        yield* room.reserve(listed.bytes)
        return json(encodeListed(yield* events.payload(domainId, listed)).join(""))
      }),
      raw: Effect.fnUntraced(function* ({ params }) {
        const { domainId } = yield* ownedOf(params)
        const message = yield* messages.get(domainId, params.eventId, room.reserve)
        return Download.message(params.eventId, message)
      }),
      content: Effect.fnUntraced(function* ({ params, query }) {
        const { domainId } = yield* ownedOf(params)
        return yield* contents.read(domainId, params.eventId, requestOf(query), room.reserve)
      }),
      attachment: Effect.fnUntraced(function* ({ params }) {
        const { domainId } = yield* ownedOf(params)
        const { content, contentType, filename } = yield* messages.attachment(
          domainId,
          params.eventId,
          params.index,
          room.reserve
        )
        return Download.attachment({ content, contentType, filename })
      }),
      html: Effect.fnUntraced(function* ({ params }) {
        const { domainId } = yield* ownedOf(params)
        const listed = yield* events.get(domainId, params.eventId)
        yield* room.reserve(listed.bytes)
        const { payload } = yield* events.payload(domainId, listed)
        return yield* HtmlPart.answer(yield* contents.page(payload))
      }),
      signed: Effect.fnUntraced(function* ({ params }) {
        const { domainId, workspaceId } = yield* ownedOf(params)
        const listed = yield* events.get(domainId, params.eventId)
        yield* room.reserve(listed.bytes * Signer.growth)
        const { payload } = yield* events.payload(domainId, listed)
        const sign = yield* signer.ofEvent(workspaceId, params.eventId)
        return yield* Effect.catchTag(sign({ id: params.eventId, payload }), "SigningFailed", Signer.unavailable)
      }),
      replay: Effect.fnUntraced(function* ({ params, query }) {
        const { domainId, workspaceId } = yield* ownedOf(params)
        yield* limits.spend("replay", workspaceId)
        const delivery = yield* events.replay(domainId, params.eventId, {
          force: query.force === "true",
          webhookId: query.webhook
        })
        return { event_id: params.eventId, delivery }
      }),
      deliverNow: Effect.fnUntraced(function* ({ params }) {
        const { domainId, workspaceId } = yield* ownedOf(params)
        yield* limits.spend("replay", workspaceId)
        return { event_id: params.eventId, delivery: yield* events.deliverNow(domainId, params.eventId) }
      }),
      deliveryAttempts: Effect.fnUntraced(function* ({ params, query }) {
        const { domainId } = yield* owned(params.id)
        const { cursor, event_id, limit = eventsOnAPage, ok, since, status_code } = query
        const page = yield* attempts.list(domainId, {
          limit,
          cursor,
          eventId: event_id,
          ok: ok === undefined ? undefined : ok === "true",
          statusCode: status_code,
          since
        })
        return { deliveryAttempts: page.items, next_cursor: page.nextCursor }
      })
    })
  })
)

const encodeSigned = (sign: Signer.SignEvent) => (event: LoadedEvent) =>
  sign(event).pipe(
    Effect.tapError((error) => Effect.logError("A webhook request could not be signed", error)),
    // The stream ends, and the client resumes after its last event.
    Effect.orDie,
    Effect.map(({ body, headers }) => [`{"headers":${JSON.stringify(headers)},"body":`, JSON.stringify(body), "}"])
  )

const json = (text: string) => HttpServerResponse.text(text, { contentType: "application/json" })

/** Explains a wait that passed over mail. */
const hintOf = (reason: PassedOver.Reason | null, filter: Parameters<typeof PassedOver.inWords>[1]): string | null => {
  switch (reason) {
    case "held":
      return "Mail came that a sender rule, the mail scanner or the loop guard holds. The same request with trust=held and without wait lists it"
    case "unconfirmed":
      return `${PassedOver.inWords(reason, filter)}. The same request without fromDomain, trust and wait lists it`
    case "lacks":
      return `${PassedOver.inWords(reason, filter)}. The same request without has lists it`
    case null:
      return null
  }
}
