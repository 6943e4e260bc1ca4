import { Context } from "effect"
import { OpenApi } from "effect/http-api"

/** Whether read keys may call an endpoint. False by default. */
export const ReadKeys = Context.Reference<boolean>("inlet/http/ReadKeys", { defaultValue: () => false })

/** The scheme of the OpenAPI document that stands beside that of the workspace's own key. */
export const scheme = "readKey"

const secured = (security: ReadonlyArray<object>) => [...security, { [scheme]: [] }]

/** The annotation of an endpoint that shows mail, or what leads to it, and changes nothing. */
export const allowed = Context.make(ReadKeys, true).pipe(
  Context.merge(
    OpenApi.annotations({
      transform: ({ responses: { 403: _, ...responses }, security, ...operation }) => ({
        ...operation,
        security: secured(security),
        responses
      })
    })
  )
)

/** That of one with a parameter that is not for a read key. */
export const allowedInPart = Context.make(ReadKeys, true).pipe(
  Context.merge(
    OpenApi.annotations({ transform: (operation) => ({ ...operation, security: secured(operation.security) }) })
  )
)
