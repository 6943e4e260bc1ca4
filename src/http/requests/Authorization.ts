import { Context, Effect, Layer, type Redacted } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { Asker } from "../../database/Turns.ts"
import { Forbidden, TooManyRequests, Unauthorized, Unavailable } from "../../model/ApiError.ts"
import { type Opened, Workspaces } from "../../workspaces/Workspaces.ts"
import { OpenRequests } from "./OpenRequests.ts"
import { ReadKeys } from "./ReadKeys.ts"

/** The workspace of this request's API key, and the key's scope. */
export class CurrentWorkspace extends Context.Service<CurrentWorkspace, Opened>()("inlet/http/CurrentWorkspace") {}

/** Authenticates requests by their API keys, and counts them for the key's workspace. */
export const serveAsHolder = Effect.gen(function* () {
  const workspaces = yield* Workspaces
  const open = yield* OpenRequests
  return Effect.fn("Authorization.serveAsHolder")(function* <A, E, R>(
    httpEffect: Effect.Effect<A, E, R>,
    credential: Redacted.Redacted
  ) {
    yield* open.known(credential)
    const workspace = yield* workspaces.authenticate(credential)
    yield* open.enter(workspace.id, credential)
    return yield* httpEffect.pipe(
      Effect.provideService(CurrentWorkspace, workspace),
      Effect.provideService(Asker, workspace.id)
    )
  })
})

/** `Authorization: Bearer <API_KEY>` (spec, section 5). Read keys are accepted on annotated endpoints (`ReadKeys`). */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: CurrentWorkspace }>()(
  "inlet/http/Authorization",
  {
    error: [Unauthorized.http, Forbidden.http, TooManyRequests.http, Unavailable.http],
    security: { bearer: HttpApiSecurity.bearer }
  }
) {
  /** The refusal for read keys. */
  static readonly refusal = (what: string) =>
    new Forbidden({
      message: `A read key (ak_read_…) only reads mail: ${what} requires the workspace's own key, \`Authorization: Bearer ak_live_…\``
    })

  static readonly layer = Layer.effect(
    Authorization,
    Effect.map(serveAsHolder, (serve) =>
      Authorization.of({
        bearer: (httpEffect, { credential, endpoint }) => {
          const allowed = Effect.gen(function* () {
            const { scope } = yield* CurrentWorkspace
            if (scope === "read" && !Context.get(endpoint.annotations, ReadKeys)) {
              return yield* Authorization.refusal(`${endpoint.method} ${endpoint.path}`)
            }
            return yield* httpEffect
          })
          return serve(allowed, credential)
        }
      })
    )
  )
}
