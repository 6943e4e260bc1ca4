import { Context, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { CurrentWorkspace } from "./CurrentWorkspace.ts"

/** Whether an endpoint reads its body itself, because of its size. False by default. */
export const ReadsBody = Context.Reference<boolean>("inlet/http/ReadsBody", { defaultValue: () => false })

export const ownReader = Context.make(ReadsBody, true)

/** Whether the client sends a body. */
export const isSent = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > 0

/** Reads the body, which takes as long as the client likes. The handler reads the same bytes. */
export const arrived = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  // A body that is too large or torn is the handler's to refuse.
  if (isSent(request)) yield* Effect.exit(request.arrayBuffer)
})

/**
 * Reads the body, and fails if the key was replaced meanwhile. Otherwise a request that was begun before a rotation
 * could make a key after it.
 */
export const read = Effect.gen(function* () {
  const { stillValid } = yield* CurrentWorkspace
  yield* arrived
  yield* stillValid
})
