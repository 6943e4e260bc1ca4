import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { EventFeed } from "../../delivery/EventFeed.ts"
import * as DomainNames from "../../domains/DomainNames.ts"
import { Domains } from "../../domains/Domains.ts"
import { Verification } from "../../domains/Verification.ts"
import * as WebhookUrl from "../../domains/WebhookUrl.ts"
import * as Settings from "../../Settings.ts"
import { WorkspaceLimits } from "../../workspaces/WorkspaceLimits.ts"
import { CurrentWorkspace } from "../requests/Authorization.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { DomainsApi } from "./DomainsApi.ts"
import * as ShownDomain from "./ShownDomain.ts"

export const layer = HttpApiBuilder.group(
  GroupApi.of(DomainsApi),
  "domains",
  Effect.fn(function* (handlers) {
    const domains = yield* Domains
    const verification = yield* Verification
    const feed = yield* EventFeed
    const limits = yield* WorkspaceLimits
    const { production } = yield* Settings.http

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
      list: () =>
        CurrentWorkspace.use(({ id }) => domains.list(id)).pipe(
          Effect.flatMap(ShownDomain.all),
          Effect.map((all) => ({ domains: all }))
        ),
      get: ({ params }) =>
        CurrentWorkspace.use(({ id }) => domains.get({ workspaceId: id, id: params.id })).pipe(
          Effect.flatMap(ShownDomain.of)
        ),
      remove: Effect.fnUntraced(function* ({ params }) {
        const workspace = yield* CurrentWorkspace
        yield* domains.remove({ workspaceId: workspace.id, id: params.id })
        // Its waits and streams look up the domain, and end.
        feed.announce(params.id, { isDue: false })
      }),
      verify: ({ params }) => CurrentWorkspace.use(({ id }) => verification.verify({ workspaceId: id, id: params.id })),
      mx: ({ params }) =>
        CurrentWorkspace.use(({ id }) => domains.get({ workspaceId: id, id: params.id })).pipe(
          Effect.flatMap(verification.mx)
        ),
      delivery: Effect.fnUntraced(function* ({ params, payload }) {
        const workspace = yield* CurrentWorkspace
        const { pull, webhookUrl = null } = payload
        const owned = { workspaceId: workspace.id, id: params.id }
        const url = webhookUrl === null ? null : yield* WebhookUrl.parse(webhookUrl, { production })
        yield* limits.spend("webhook change", workspace.id)
        if (url !== null) yield* WebhookUrl.reachable(url)
        const domain = yield* pull === undefined ? domains.setWebhook(owned, url) : domains.setPull(owned, pull)
        feed.announce(domain.id, { isDue: true })
        const { id, status } = domain
        return { id, domain: domain.domain, status, webhookUrl: domain.webhookUrl, pull: domain.pull }
      })
    })
  })
)
