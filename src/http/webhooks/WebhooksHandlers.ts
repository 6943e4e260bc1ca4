import { Effect, Record, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { EventFeed } from "../../delivery/EventFeed.ts"
import { WebhookHealth } from "../../delivery/WebhookHealth.ts"
import { WebhookTrial } from "../../delivery/WebhookTrial.ts"
import * as DomainNames from "../../domains/DomainNames.ts"
import { Domains } from "../../domains/Domains.ts"
import * as EnvelopeAddress from "../../intake/EnvelopeAddress.ts"
import { Invalid } from "../../model/ApiError.ts"
import type { DomainId } from "../../model/Domain.ts"
import { noSuchWebhook, plainFormat, Webhook, type WebhookAction } from "../../model/Webhook.ts"
import * as Settings from "../../Settings.ts"
import * as Routes from "../../webhooks/routes/Routes.ts"
import { type Changed, Webhooks } from "../../webhooks/Webhooks.ts"
import * as WebhookUrl from "../../webhooks/WebhookUrl.ts"
import { WorkspaceLimits } from "../../workspaces/WorkspaceLimits.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"
import * as WireFields from "../requests/WireFields.ts"
import * as ShownWebhook from "./ShownWebhook.ts"
import { WebhooksApi } from "./WebhooksApi.ts"

const refusals: ReadonlySet<string> = new Set(["Conflict", "Invalid", "NotFound"])

export const layer = HttpApiBuilder.group(
  GroupApi.of(WebhooksApi),
  "webhooks",
  Effect.fn(function* (handlers) {
    const domains = yield* Domains
    const webhooks = yield* Webhooks
    const feed = yield* EventFeed
    const limits = yield* WorkspaceLimits
    const trial = yield* WebhookTrial
    const health = yield* WebhookHealth
    const { production } = yield* Settings.http

    const owned = (id: DomainId) => CurrentWorkspace.use((workspace) => LimitedKeys.domainOf(domains, workspace, id))

    /** The webhooks of a domain that may take mail of the key. Each names no others among its kinds. */
    const visible = Effect.fnUntraced(function* (id: DomainId) {
      const { limit } = yield* CurrentWorkspace
      const all = yield* webhooks.list(id)
      if (limit === null) return all
      const met = all.filter(({ pattern }) => Routes.meet(pattern, limit.pattern))
      const ids = new Set<string>(met.map(({ id }) => id))
      return met.map((webhook) => new Webhook({ ...webhook, kinds: Record.filter(webhook.kinds, (id) => ids.has(id)) }))
    })

    /** The domain, if it takes mail. */
    const taking = (id: DomainId) =>
      CurrentWorkspace.use((workspace) => domains.taking({ workspaceId: workspace.id, id }))

    /** Counts a change of a webhook. A refused one changes nothing, and does not count. */
    const counted = Effect.fnUntraced(function* <A, E extends { readonly _tag: string }, R>(
      url: string | null | undefined,
      change: Effect.Effect<A, E, R>
    ) {
      const { id } = yield* CurrentWorkspace
      yield* limits.spend("webhook change", id)
      // A name that DNS does not have counts, because it was asked for.
      if (typeof url === "string") yield* WebhookUrl.reachable(url)
      return yield* Effect.tapError(change, ({ _tag }) =>
        refusals.has(_tag) ? limits.giveBack("webhook change", id) : Effect.void
      )
    })

    const checked = Effect.fnUntraced(function* (text: string | null | undefined, format: string) {
      if (text === null || text === undefined) return { url: text, credentials: {} }
      const target = yield* WebhookUrl.withCredentials(text, { production })
      if (format === plainFormat && "user" in target.credentials) return yield* WebhookUrl.plain
      return target
    })

    const shown = ({ secret, signingKey, webhook }: Changed) => ({
      webhook,
      ...(secret === undefined ? {} : { webhook_signing_secret: Redacted.value(secret) }),
      ...(signingKey === undefined ? {} : { signingKey: Redacted.value(signingKey) })
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ params }) {
        const { id } = yield* owned(params.id)
        return { webhooks: yield* Effect.flatMap(visible(id), ShownWebhook.all) }
      }),
      create: Effect.fnUntraced(function* ({ params, payload }) {
        const domain = yield* taking(params.id)
        const { description = null, kinds = {}, pattern, secret = "workspace", webhookUrl = null } = payload
        const action = payload.action ?? (webhookUrl === null ? "hold" : "webhook")
        if (action === "webhook" && webhookUrl === null) return yield* new Invalid({ message: needsUrl })
        const { credentials, url = null } = yield* checked(webhookUrl, payload.format ?? plainFormat)
        const wire = WireFields.asked(payload, credentials)
        const made = webhooks.create(domain.id, { pattern, action, url, wire, description, kinds }, secret)
        return shown(yield* counted(url, made))
      }),
      match: Effect.fnUntraced(function* ({ params, query: { recipient } }) {
        const domain = yield* owned(params.id)
        const name = DomainNames.canonical(recipient.slice(recipient.lastIndexOf("@") + 1))
        if (!EnvelopeAddress.isValid(recipient) || name !== domain.domain) {
          return yield* new Invalid({ message: `recipient: Expected an address at ${domain.domain}` })
        }
        const { limit } = yield* CurrentWorkspace
        if (limit !== null && !LimitedKeys.sees(limit, recipient)) {
          return yield* new Invalid({ message: `recipient: Expected an address that ${limit.pattern} takes` })
        }
        const all = yield* visible(domain.id)
        const localPart = Routes.localPartOf(recipient)
        const webhook = Routes.match(all, localPart)
        if (webhook === undefined) return yield* Effect.die(`The domain ${domain.id} has no catch-all`)
        const others = all.filter((other) => other !== webhook)
        return {
          recipient,
          webhook: yield* ShownWebhook.of(webhook),
          others: others.map(({ id, pattern }) => ({
            webhook_id: id,
            pattern,
            reason: Routes.whyNot(pattern, webhook.pattern, localPart)
          }))
        }
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        const { id } = yield* owned(params.id)
        const webhook = (yield* visible(id)).find((one) => one.id === params.webhookId)
        return webhook === undefined ? yield* noSuchWebhook : yield* ShownWebhook.of(webhook)
      }),
      update: Effect.fnUntraced(function* ({ params, payload: { format, raw, signingKey, webhookUrl, ...change } }) {
        const domain = yield* taking(params.id)
        const current = format ?? (yield* webhooks.get(domain.id, params.webhookId)).format
        const { credentials, url } = yield* checked(webhookUrl, current)
        const wire = WireFields.asked(
          {
            ...(format === undefined ? {} : { format }),
            ...(raw === undefined ? {} : { raw }),
            ...(signingKey === undefined ? {} : { signingKey })
          },
          credentials
        )
        const action: WebhookAction | undefined =
          change.action ?? (url === undefined ? undefined : url === null ? "hold" : "webhook")
        const changed = yield* counted(
          url,
          webhooks.update(domain.id, params.webhookId, {
            ...change,
            wire,
            ...(url === undefined ? {} : { url }),
            ...(action === undefined ? {} : { action })
          })
        )
        feed.announce(domain.id, { due: params.webhookId })
        return shown(changed)
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        const { id } = yield* owned(params.id)
        yield* webhooks.remove(id, params.webhookId)
      }),
      health: Effect.fnUntraced(function* ({ params }) {
        const domain = yield* owned(params.id)
        const { id } = yield* webhooks.get(domain.id, params.webhookId)
        return yield* health.of(id)
      }),
      rotateSecret: Effect.fnUntraced(function* ({ params }) {
        const { id } = yield* owned(params.id)
        const secret = yield* webhooks.rotateSecret(id, params.webhookId)
        return { webhook_signing_secret: Redacted.value(secret) }
      }),
      test: Effect.fnUntraced(function* ({ params }) {
        const workspace = yield* CurrentWorkspace
        const domain = yield* owned(params.id)
        const { id, pattern, webhookUrl } = yield* webhooks.get(domain.id, params.webhookId)
        if (webhookUrl !== null && domain.status !== "disabled") yield* limits.spend("webhook change", workspace.id)
        return yield* trial.run(workspace.id, domain, { id, pattern, url: webhookUrl })
      })
    })
  })
)

const needsUrl = 'webhookUrl: Expected a URL for the action webhook. Other actions are "pull", "hold" and "reject"'
