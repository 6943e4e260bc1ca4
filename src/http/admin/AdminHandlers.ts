import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { EventFeed } from "../../delivery/EventFeed.ts"
import * as DomainNames from "../../domains/DomainNames.ts"
import { Domains } from "../../domains/Domains.ts"
import { catchAllOf } from "../../model/Webhook.ts"
import { OperationalEvents } from "../../operations/OperationalEvents.ts"
import { AllDomains } from "../../operator/AllDomains.ts"
import { AllWorkspaces } from "../../operator/AllWorkspaces.ts"
import { ServiceStatus } from "../../operator/ServiceStatus.ts"
import { UnknownRefusals } from "../../refusals/UnknownRefusals.ts"
import { Traces } from "../../trace/Traces.ts"
import * as DomainPage from "../domains/DomainPage.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import * as LedgerPage from "../requests/LedgerPage.ts"
import * as TimeQuery from "../requests/TimeQuery.ts"
import * as TraceQuery from "../trace/TraceQuery.ts"
import { AdminApi } from "./AdminApi.ts"

const workspacesOnAPage = 50
const refusalsOnAPage = 50

export const layer = HttpApiBuilder.group(
  GroupApi.of(AdminApi),
  "admin",
  Effect.fn(function* (handlers) {
    const domains = yield* Domains
    const allDomains = yield* AllDomains
    const feed = yield* EventFeed
    const workspaces = yield* AllWorkspaces
    const status = yield* ServiceStatus
    const refusals = yield* UnknownRefusals
    const traces = yield* Traces
    const events = yield* OperationalEvents

    return handlers.handleAll({
      status: () => status.now,
      refusals: Effect.fnUntraced(function* ({ query: { cursor, domain, limit = refusalsOnAPage } }) {
        const name = domain === undefined ? undefined : yield* DomainNames.parse(domain)
        const { items, nextCursor } = yield* refusals.list({ cursor, limit, domain: name })
        return { refusals: items, next_cursor: nextCursor }
      }),
      trace: Effect.fnUntraced(function* ({ query }) {
        yield* TimeQuery.requireOrder(query)
        const { asked, page } = TraceQuery.toSearch(query)
        const { entries, hint, nextCursor } = yield* traces.search("all", asked, page)
        return { entries, next_cursor: nextCursor, hint }
      }),
      operationalEvents: ({ query: { limit = LedgerPage.limitByDefault, ...page } }) =>
        Effect.map(events.listAll({ ...page, limit }), LedgerPage.of),
      workspaces: ({ query: { cursor, limit = workspacesOnAPage, search } }) =>
        Effect.map(workspaces.list({ search, cursor, limit }), ({ items, nextCursor }) => ({
          workspaces: items,
          next_cursor: nextCursor
        })),
      removeWorkspace: ({ params }) => workspaces.remove(params.workspaceId),
      list: Effect.fnUntraced(function* ({ query }) {
        const { page, wanted } = DomainPage.asked(query)
        const { items, nextCursor } = yield* allDomains.list(wanted, page)
        return { domains: items, next_cursor: nextCursor }
      }),
      disable: Effect.fnUntraced(function* ({ params }) {
        const name = yield* DomainNames.parse(params.domain)
        return { domains: yield* domains.disable(name, "disabled by the operator") }
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const name = yield* DomainNames.parse(params.domain)
        const removed = yield* domains.removeHolder(name)
        feed.announce(removed.id, { due: null })
        return { domains: [removed] }
      }),
      enable: Effect.fnUntraced(function* ({ params }) {
        const name = yield* DomainNames.parse(params.domain)
        const enabled = yield* domains.enable(name)
        for (const { id } of enabled) feed.announce(id, { due: catchAllOf(id) })
        return { domains: enabled }
      })
    })
  })
)
