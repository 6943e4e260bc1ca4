import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { EventFeed } from "../../delivery/EventFeed.ts"
import { WebhookHealth } from "../../delivery/WebhookHealth.ts"
import { WebhookTrial } from "../../delivery/WebhookTrial.ts"
import * as DomainNames from "../../domains/DomainNames.ts"
import { Domains } from "../../domains/Domains.ts"
import { Verification } from "../../domains/Verification.ts"
import { DomainHealths } from "../../health/DomainHealths.ts"
import type { DomainId } from "../../model/Domain.ts"
import { catchAll, catchAllOf, plainFormat } from "../../model/Webhook.ts"
import { Refusals } from "../../refusals/Refusals.ts"
import * as Settings from "../../Settings.ts"
import { DomainStatistics } from "../../statistics/DomainStatistics.ts"
import * as WebhookUrl from "../../webhooks/WebhookUrl.ts"
import { WorkspaceLimits } from "../../workspaces/WorkspaceLimits.ts"
import * as AddressQuery from "../requests/AddressQuery.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { LimitedCursors } from "../requests/LimitedCursors.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"
import * as WireFields from "../requests/WireFields.ts"
import * as DomainPage from "./DomainPage.ts"
import { DomainsApi } from "./DomainsApi.ts"
import * as ShownDomain from "./ShownDomain.ts"

const daysByDefault = 30
const refusalsOnAPage = 50

export const layer = HttpApiBuilder.group(
  GroupApi.of(DomainsApi),
  "domains",
  Effect.fn(function* (handlers) {
    const domains = yield* Domains
    const verification = yield* Verification
    const feed = yield* EventFeed
    const limits = yield* WorkspaceLimits
    const { production } = yield* Settings.http
    const statistics = yield* DomainStatistics
    const refusals = yield* Refusals
    const cursors = yield* LimitedCursors
    const health = yield* WebhookHealth
    const healths = yield* DomainHealths
    const test = yield* WebhookTrial

    const owned = (id: DomainId) => CurrentWorkspace.use((workspace) => LimitedKeys.domainOf(domains, workspace, id))

    return handlers.handleAll({
      instantInbox: Effect.fnUntraced(function* () {
        const workspace = yield* CurrentWorkspace
        const { domain, existing } = yield* domains.instantInbox(workspace.id)
        const inbox = { address: `inbox@${domain.domain}`, domain_id: domain.id, domain: domain.domain }
        return existing ? { ...inbox, existing } : { ...inbox, existing }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const workspace = yield* CurrentWorkspace
        return yield* domains.create(workspace.id, yield* DomainNames.parse(payload.domain))
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { page, wanted } = DomainPage.asked(query)
        const found = yield* domains.list({ ...wanted, ...LimitedKeys.visible(yield* CurrentWorkspace) }, page)
        return DomainPage.of({ ...found, items: yield* Effect.forEach(found.items, ShownDomain.of) })
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        const { limit } = yield* CurrentWorkspace
        const domain = yield* Effect.flatMap(owned(params.id), ShownDomain.of)
        // It is about mail to every address.
        const failing = limit === null ? yield* health.failing(catchAllOf(domain.id)) : null
        return { ...domain, webhook_failing: failing }
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        const workspace = yield* CurrentWorkspace
        return yield* domains.setSpam({ workspaceId: workspace.id, id: params.id }, payload.spam)
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const workspace = yield* CurrentWorkspace
        yield* domains.remove({ workspaceId: workspace.id, id: params.id })
        // Its waits and streams look up the domain, and end.
        feed.announce(params.id, { due: null })
      }),
      verify: ({ params }) => CurrentWorkspace.use(({ id }) => verification.verify({ workspaceId: id, id: params.id })),
      mx: ({ params }) => Effect.flatMap(owned(params.id), verification.mx),
      dns: ({ params }) => Effect.flatMap(owned(params.id), verification.dns),
      health: Effect.fnUntraced(function* ({ params }) {
        const workspace = yield* CurrentWorkspace
        return yield* healths.of(workspace.id, yield* owned(params.id), workspace.limit !== null)
      }),
      stats: Effect.fnUntraced(function* ({ params, query }) {
        const { id } = yield* owned(params.id)
        return { days: yield* statistics.of(id, query.days ?? daysByDefault) }
      }),
      refusals: Effect.fnUntraced(function* ({ params, query: { cursor: given, limit = refusalsOnAPage, ...filter } }) {
        const { domain, id } = yield* owned(params.id)
        yield* AddressQuery.requireAt(domain, filter.recipient)
        const holder = yield* CurrentWorkspace
        const only = holder.limit?.pattern
        const cursor = yield* cursors.open(holder, given)
        const { items, nextCursor } = yield* refusals.list(id, { ...filter, only }, { limit, cursor })
        return { refusals: items, next_cursor: yield* cursors.seal(holder, nextCursor) }
      }),
      webhookHealth: ({ params }) => Effect.flatMap(owned(params.id), ({ id }) => health.of(catchAllOf(id))),
      webhookTest: Effect.fnUntraced(function* ({ params }) {
        const workspace = yield* CurrentWorkspace
        const domain = yield* owned(params.id)
        if (domain.webhookUrl !== null && domain.status !== "disabled")
          yield* limits.spend("webhook change", workspace.id)
        return yield* test.run(workspace.id, domain, {
          id: catchAllOf(domain.id),
          pattern: catchAll,
          url: domain.webhookUrl
        })
      }),
      delivery: Effect.fnUntraced(function* ({ params, payload }) {
        const workspace = yield* CurrentWorkspace
        const { pull, webhookUrl = null } = payload
        const owned = { workspaceId: workspace.id, id: params.id }
        const target = webhookUrl === null ? null : yield* WebhookUrl.withCredentials(webhookUrl, { production })
        const format = payload.format ?? (yield* domains.get(owned)).webhookFormat
        if (format === plainFormat && target !== null && "user" in target.credentials) return yield* WebhookUrl.plain
        yield* limits.spend("webhook change", workspace.id)
        if (target !== null) yield* WebhookUrl.reachable(target.url)
        const wire = WireFields.asked(payload, target?.credentials ?? {})
        const change =
          pull === undefined
            ? domains.setWebhook(owned, target?.url ?? null, wire)
            : Effect.map(domains.setPull(owned, pull), (domain) => ({ domain, signingKey: undefined }))
        const { domain, signingKey } = yield* Effect.tapErrorTag(change, ["Conflict", "Invalid"], () =>
          limits.giveBack("webhook change", workspace.id)
        )
        feed.announce(domain.id, { due: catchAllOf(domain.id) })
        return {
          id: domain.id,
          domain: domain.domain,
          status: domain.status,
          webhookUrl: domain.webhookUrl,
          pull: domain.pull,
          format: domain.webhookFormat,
          basicAuth: domain.webhookBasicAuth,
          ...(signingKey === undefined ? {} : { signingKey: Redacted.value(signingKey) })
        }
      })
    })
  })
)
