import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as Settings from "../Settings.ts"
import { ClientLimits } from "../workspaces/ClientLimits.ts"
import { Workspaces } from "../workspaces/Workspaces.ts"
import { Api } from "./Api.ts"
import { CurrentWorkspace } from "./Authorization.ts"
import * as ClientAddress from "./ClientAddress.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "workspaces",
  Effect.fn(function* (handlers) {
    const workspaces = yield* Workspaces
    const limits = yield* ClientLimits
    const { trustProxy } = yield* Settings.clients

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        const client = ClientAddress.of(yield* HttpServerRequest.HttpServerRequest, trustProxy)
        const { apiKey, id, signingSecret } = yield* limits.within("workspace", client, workspaces.create(payload.name))
        return {
          workspace_id: id,
          api_key: Redacted.value(apiKey),
          webhook_signing_secret: Redacted.value(signingSecret)
        }
      }),
      rotateKey: () =>
        CurrentWorkspace.use(({ id }) => workspaces.rotateKey(id)).pipe(
          Effect.map((apiKey) => ({ api_key: Redacted.value(apiKey) }))
        ),
      rotateSecret: () =>
        CurrentWorkspace.use(({ id }) => workspaces.rotateSecret(id)).pipe(
          Effect.map((secret) => ({ webhook_signing_secret: Redacted.value(secret) }))
        )
    })
  })
)
