import { Duration, Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Domains } from "../domains/Domains.ts"
import { Attempts } from "../events/Attempts.ts"
import type { ListedEvent } from "../events/EventQuery.ts"
import { Events } from "../events/Events.ts"
import * as RawMessages from "../events/RawMessages.ts"
import { Invalid } from "../model/ApiError.ts"
import { Delivery } from "../model/Delivery.ts"
import type { DomainId } from "../model/Domain.ts"
import { Api } from "./Api.ts"
import { CurrentWorkspace } from "./Authorization.ts"
import * as EventStream from "./EventStream.ts"
import { OpenRequests } from "./OpenRequests.ts"

const eventsOnAPage = 50

export const layer = HttpApiBuilder.group(
  Api,
  "events",
  Effect.fn(function* (handlers) {
    const domains = yield* Domains
    const events = yield* Events
    const attempts = yield* Attempts
    const messages = yield* RawMessages.RawMessages
    const open = yield* OpenRequests

    /** The domain, if it is this workspace's. */
    const owned = (id: DomainId) =>
      CurrentWorkspace.use((workspace) =>
        Effect.as(domains.get({ workspaceId: workspace.id, id }), {
          domainId: id,
          workspaceId: workspace.id,
          untilReplaced: workspace.untilReplaced
        })
      )

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ params, query }) {
        const { domainId, untilReplaced, workspaceId } = yield* owned(params.id)
        const { cursor, limit = eventsOnAPage, wait = 0, ...filter } = query
        if (wait > 0 && cursor !== undefined) {
          return yield* new Invalid({ message: "wait: Expected no cursor beside it; a wait is for new events" })
        }
        if (wait > 0) yield* open.take(workspaceId)
        const page =
          wait > 0
            ? yield* Effect.raceFirst(
                events.wait(domainId, filter, { limit, time: Duration.seconds(wait) }),
                untilReplaced
              )
            : yield* events.list(domainId, filter, { limit, cursor })
        // The payloads are JSON already, and long: they are passed on as they are.
        return json(
          `{"events":[${page.items.map(encodeListed).join(",")}],"next_cursor":${JSON.stringify(page.nextCursor)}}`
        )
      }),
      stream: Effect.fnUntraced(function* ({ headers, params }) {
        const { domainId, untilReplaced, workspaceId } = yield* owned(params.id)
        yield* open.take(workspaceId)
        return EventStream.toResponse(
          yield* events.follow(domainId, headers["last-event-id"]),
          Effect.exit(untilReplaced)
        )
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        const { domainId } = yield* owned(params.id)
        return json(encodeListed(yield* events.get(domainId, params.eventId)))
      }),
      raw: Effect.fnUntraced(function* ({ params }) {
        const { domainId } = yield* owned(params.id)
        const message = yield* messages.get(domainId, params.eventId)
        return HttpServerResponse.uint8Array(message, {
          contentType: "message/rfc822",
          headers: { "content-disposition": `attachment; filename="${params.eventId}.eml"`, ...download }
        })
      }),
      attachment: Effect.fnUntraced(function* ({ params }) {
        const { domainId } = yield* owned(params.id)
        const { content, contentType, filename } = yield* messages.attachment(domainId, params.eventId, params.index)
        return HttpServerResponse.uint8Array(content, {
          contentType: /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : "application/octet-stream",
          headers: { "content-disposition": contentDisposition(filename), ...download }
        })
      }),
      replay: Effect.fnUntraced(function* ({ params, query }) {
        const { domainId } = yield* owned(params.id)
        const delivery = yield* events.replay(domainId, params.eventId, { force: query.force === "true" })
        return { event_id: params.eventId, delivery }
      }),
      deliveryAttempts: Effect.fnUntraced(function* ({ params, query }) {
        const { domainId } = yield* owned(params.id)
        const { cursor, event_id, limit = eventsOnAPage } = query
        const page = yield* attempts.list(domainId, { limit, cursor, eventId: event_id })
        return { deliveryAttempts: page.items, next_cursor: page.nextCursor }
      })
    })
  })
)

const encodeDelivery = Schema.encodeSync(Schema.fromJsonString(Delivery))

const encodeListed = ({ delivery, payload }: ListedEvent) =>
  `${payload.slice(0, -1)},"delivery":${encodeDelivery(delivery)}}`

const json = (text: string) => HttpServerResponse.text(text, { contentType: "application/json" })

// A stranger's bytes are never shown as a page of ours.
const download = { "x-content-type-options": "nosniff", "content-security-policy": "sandbox; default-src 'none'" }

/** RFC 6266: an ASCII name for old clients, the real one beside it. */
const contentDisposition = (filename: string | null) => {
  const name = (filename ?? "attachment").split(/[\\/]/).at(-1) || "attachment"
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, "_").slice(0, 200)
  const encoded = encodeURIComponent(name.slice(0, 200).toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
