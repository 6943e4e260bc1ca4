import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as WorkspaceUsage from "../../domains/WorkspaceUsage.ts"
import { Forbidden, Invalid } from "../../model/ApiError.ts"
import { catchAll } from "../../model/Webhook.ts"
import { OperationalWebhook } from "../../operations/OperationalWebhook.ts"
import * as Settings from "../../Settings.ts"
import * as WebhookUrl from "../../webhooks/WebhookUrl.ts"
import { ClientLimits } from "../../workspaces/ClientLimits.ts"
import { WorkspaceLimits } from "../../workspaces/WorkspaceLimits.ts"
import { Workspaces } from "../../workspaces/Workspaces.ts"
import * as ClientAddress from "../requests/ClientAddress.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { Operator } from "../requests/Operator.ts"
import { WorkspacesApi } from "./WorkspacesApi.ts"

export const layer = HttpApiBuilder.group(
  GroupApi.of(WorkspacesApi),
  "workspaces",
  Effect.fn(function* (handlers) {
    const workspaces = yield* Workspaces
    const clients = yield* ClientLimits
    const usage = yield* WorkspaceUsage.make
    const operator = yield* Operator
    const webhook = yield* OperationalWebhook
    const changes = yield* WorkspaceLimits
    const { production } = yield* Settings.http
    const { trustProxy, workspaceCreation } = yield* Settings.clients
    const { domainsPerWorkspace, emailsPerDay, messageBytes, retentionDays } = yield* Settings.limits
    const { requestsAtOnce, requestsPerSecond, waitsAtOnce } = yield* Settings.answers
    const limits = {
      domains: domainsPerWorkspace || null,
      emails_per_day: emailsPerDay || null,
      message_bytes: messageBytes,
      retention_days: retentionDays || null,
      waits_and_streams: waitsAtOnce || null,
      requests_at_once: requestsAtOnce || null,
      requests_per_second: requestsPerSecond || null
    }

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const token = Redacted.make((request.headers.authorization ?? "").replace(/^bearer /i, ""))
        const isOperator = yield* operator.isCaller(token)
        if (workspaceCreation === "admin" && !isOperator) {
          return yield* new Forbidden({
            message:
              "Only the operator creates workspaces here. Send `Authorization: Bearer <ADMIN_TOKEN>`, or ask the operator for a key"
          })
        }
        const client = ClientAddress.of(request, trustProxy)
        const create = workspaces.create(payload.name)
        // The limit is for strangers.
        const { apiKey, id, signingSecret } = yield* isOperator ? create : clients.within("workspace", client, create)
        return {
          workspace_id: id,
          api_key: Redacted.value(apiKey),
          webhook_signing_secret: Redacted.value(signingSecret)
        }
      }),
      get: Effect.fnUntraced(function* () {
        const { id, limit, scope } = yield* CurrentWorkspace
        const { createdAt, dayEndsAt, domains, emailsToday, name } = yield* usage(id)
        const url = limit === null ? yield* webhook.get(id) : null
        return {
          workspace_id: id,
          name,
          opsWebhookUrl: url === null || scope === "full" ? url : `${new URL(url).origin}/…`,
          created_at: createdAt,
          key_scope: scope === "full" ? scope : ("read" as const),
          key_limit: limit === null ? null : { pattern: limit.pattern, domain_id: limit.domainId },
          limits,
          ...(limit === null ? { used: { domains, emails_today: emailsToday } } : {}),
          day_ends_at: dayEndsAt
        }
      }),
      update: Effect.fnUntraced(function* ({ payload: { opsWebhookUrl } }) {
        const { id } = yield* CurrentWorkspace
        const field = "opsWebhookUrl"
        const url = opsWebhookUrl === null ? null : yield* WebhookUrl.parse(opsWebhookUrl, { production, field })
        yield* changes.spend("webhook change", id)
        if (url !== null) yield* WebhookUrl.reachable(url, field)
        yield* webhook.set(id, url)
        return { workspace_id: id, opsWebhookUrl: url }
      }),
      rotateKey: () =>
        CurrentWorkspace.use(workspaces.rotateKey).pipe(Effect.map((apiKey) => ({ api_key: Redacted.value(apiKey) }))),
      createKey: Effect.fnUntraced(function* ({ payload: { domain_id = null, name = null, pattern = null, scope } }) {
        const { id } = yield* CurrentWorkspace
        if (scope === "ingest" && pattern !== null) {
          return yield* new Invalid({ message: "pattern: Expected none for an ingest key. Limit it with domain_id" })
        }
        const limit =
          pattern === null && domain_id === null
            ? null
            : { pattern: (pattern ?? catchAll).toLowerCase(), domainId: domain_id }
        const { apiKey, key } = yield* workspaces.createKey(id, { scope, name, limit })
        return { ...key, api_key: Redacted.value(apiKey) }
      }),
      listKeys: () => CurrentWorkspace.use(({ id }) => workspaces.listKeys(id)).pipe(Effect.map((keys) => ({ keys }))),
      revokeKey: ({ params }) =>
        CurrentWorkspace.use(({ id }) => workspaces.revokeKey({ workspaceId: id, id: params.keyId })),
      rotateSecret: () =>
        CurrentWorkspace.use(({ id }) => workspaces.rotateSecret(id)).pipe(
          Effect.map((secret) => ({ webhook_signing_secret: Redacted.value(secret) }))
        )
    })
  })
)
