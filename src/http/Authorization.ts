import { Context, Effect, Layer, type Redacted } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { Asker } from "../database/Turns.ts"
import { TooManyRequests, Unauthorized, Unavailable } from "../model/ApiError.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import { Workspaces } from "../workspaces/Workspaces.ts"
import { OpenRequests } from "./OpenRequests.ts"

/** The workspace whose API key this request carries. */
export class CurrentWorkspace extends Context.Service<
  CurrentWorkspace,
  {
    readonly id: WorkspaceId
    /** Fails once the key is replaced, for requests that are held open. */
    readonly untilReplaced: Effect.Effect<never, Unauthorized>
  }
>()("inlet/http/CurrentWorkspace") {}

/** Serves requests as the workspaces whose API keys they carry, and counts them for these. */
export const serveAsHolder = Effect.gen(function* () {
  const workspaces = yield* Workspaces
  const open = yield* OpenRequests
  return Effect.fn("Authorization.serveAsHolder")(function* <A, E, R>(
    httpEffect: Effect.Effect<A, E, R>,
    credential: Redacted.Redacted
  ) {
    yield* open.known(credential)
    const id = yield* workspaces.authenticate(credential)
    yield* open.enter(id, credential)
    const untilReplaced = workspaces.untilReplaced(id, credential)
    return yield* httpEffect.pipe(
      Effect.provideService(CurrentWorkspace, { id, untilReplaced }),
      Effect.provideService(Asker, id)
    )
  })
})

/** `Authorization: Bearer <API_KEY>` (spec, section 5). */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: CurrentWorkspace }>()(
  "inlet/http/Authorization",
  { error: [Unauthorized.http, TooManyRequests.http, Unavailable.http], security: { bearer: HttpApiSecurity.bearer } }
) {
  static readonly layer = Layer.effect(
    Authorization,
    Effect.map(serveAsHolder, (serve) =>
      Authorization.of({ bearer: (httpEffect, { credential }) => serve(httpEffect, credential) })
    )
  )
}
