import { Context } from "effect"
import { OpenApi } from "effect/http-api"

/** Whether a key of scope `read` may ask an endpoint. It may not where nothing is said. */
export const ReadKeys = Context.Reference<boolean>("inlet/http/ReadKeys", { defaultValue: () => false })

/** The annotation of an endpoint that shows mail, or what leads to it, and changes nothing. */
export const allowed = Context.make(ReadKeys, true).pipe(
  Context.merge(
    OpenApi.annotations({
      transform: ({ responses: { 403: _, ...responses }, ...operation }) => ({ ...operation, responses })
    })
  )
)
