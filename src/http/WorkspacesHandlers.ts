import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Workspaces } from "../workspaces/Workspaces.ts"
import { Api } from "./Api.ts"
import { CurrentWorkspace } from "./Authorization.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "workspaces",
  Effect.fn(function* (handlers) {
    const workspaces = yield* Workspaces

    return handlers.handleAll({
      create: ({ payload }) =>
        Effect.map(workspaces.create(payload.name), ({ apiKey, id, signingSecret }) => ({
          workspace_id: id,
          api_key: Redacted.value(apiKey),
          webhook_signing_secret: Redacted.value(signingSecret)
        })),
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
