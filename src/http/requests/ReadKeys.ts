import { Context } from "effect"
import { OpenApi } from "effect/http-api"

/** Whether read keys may call an endpoint. False by default. */
export const ReadKeys = Context.Reference<boolean>("inlet/http/ReadKeys", { defaultValue: () => false })

/** The security scheme of the OpenAPI document beside that of the workspace key. */
export const scheme = "readKey"

const secured = (security: ReadonlyArray<object>) => [...security, { [scheme]: [] }]

/** Annotates an endpoint that shows mail or leads to it, and changes nothing. */
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

/** Annotates an endpoint with a parameter that read keys may not use. */
export const allowedInPart = Context.make(ReadKeys, true).pipe(
  Context.merge(
    OpenApi.annotations({ transform: (operation) => ({ ...operation, security: secured(operation.security) }) })
  )
)
