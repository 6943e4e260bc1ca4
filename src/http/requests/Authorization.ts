import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { SqlError } from "effect/sql"
import { Asker } from "../../database/Turns.ts"
import { Forbidden, TooManyRequests, Unauthorized, Unavailable } from "../../model/ApiError.ts"
import * as Settings from "../../Settings.ts"
import * as ApiKey from "../../workspaces/ApiKey.ts"
import { ConsoleSessions } from "../../workspaces/ConsoleSessions.ts"
import { Workspaces } from "../../workspaces/Workspaces.ts"
import * as ConsoleCookie from "./ConsoleCookie.ts"
import { CurrentWorkspace } from "./CurrentWorkspace.ts"
import * as DatabaseErrors from "./DatabaseErrors.ts"
import * as IngestKeys from "./IngestKeys.ts"
import * as LimitedKeys from "./LimitedKeys.ts"
import { OpenRequests } from "./OpenRequests.ts"
import { ReadKeys } from "./ReadKeys.ts"
import * as SameOrigin from "./SameOrigin.ts"
import * as WholeBody from "./WholeBody.ts"

/** Only the console gets it, so the contract does not declare it. */
const otherWorkspace = HttpServerResponse.jsonUnsafe(
  { error: "You are signed in to another workspace in this browser. Reload the page" },
  { status: 409 }
)

/**
 * Authenticates requests by their API keys, and counts them for the key's workspace. Refuses ingest keys, unless the
 * route takes them.
 */
export const serveAsHolder = Effect.gen(function* () {
  const workspaces = yield* Workspaces
  const open = yield* OpenRequests
  return Effect.fn("Authorization.serveAsHolder")(function* <A, E, R>(
    httpEffect: Effect.Effect<A, E, R>,
    credential: Redacted.Redacted,
    authenticate: (
      credential: Redacted.Redacted
    ) => Effect.Effect<CurrentWorkspace["Service"], Unauthorized | SqlError.SqlError> = workspaces.authenticate,
    takesIngestKeys = false
  ) {
    yield* open.known(credential)
    const workspace = yield* authenticate(credential)
    yield* open.enter(workspace.id, credential)
    if (workspace.scope === "ingest" && !takesIngestKeys) return yield* IngestKeys.refusal
    return yield* httpEffect.pipe(
      Effect.provideService(CurrentWorkspace, workspace),
      Effect.provideService(Asker, workspace.id)
    )
  })
})

/**
 * `Authorization: Bearer <API_KEY>` (spec, section 5), or without that header the cookie of the console. A read key may
 * ask what is annotated so (`ReadKeys`), and a key with a limit what is annotated for it (`LimitedKeys`). An ingest key
 * may ask what is annotated with `IngestKeys` alone.
 */
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
    Effect.gen(function* () {
      const serve = yield* serveAsHolder
      const sessions = yield* ConsoleSessions
      const { publicUrl } = yield* Settings.http
      return Authorization.of({
        bearer: Effect.fnUntraced(function* (httpEffect, { credential, endpoint }) {
          const allowed = Effect.gen(function* () {
            const { id, limit, scope, sessionId } = yield* CurrentWorkspace
            const request = yield* HttpServerRequest.HttpServerRequest
            if (sessionId !== undefined && SameOrigin.isOfOther(request, id)) return otherWorkspace
            const takesReadKeys = Context.get(endpoint.annotations, ReadKeys)
            const route = `${endpoint.method} ${endpoint.path.replace(/:(\w+)/g, "{$1}")}`
            // Its limit is a domain, which the handler compares.
            if (scope === "ingest") return yield* httpEffect
            if (limit !== null) {
              const isRefused = Context.get(endpoint.annotations, LimitedKeys.LimitedKeys) === "refused"
              if (isRefused) return yield* LimitedKeys.refusal(route, limit, takesReadKeys)
            } else if (scope === "read" && !takesReadKeys) {
              return yield* Authorization.refusal(route)
            }
            if (!Context.get(endpoint.annotations, WholeBody.ReadsBody)) yield* WholeBody.read
            return yield* httpEffect
          })
          const cookie =
            Redacted.value(credential) === "" ? yield* ConsoleCookie.of("inlet_console", publicUrl) : undefined
          const { authorization = "" } = (yield* HttpServerRequest.HttpServerRequest).headers
          if (cookie === undefined && Redacted.value(credential) === "" && authorization !== "") {
            return yield* new Unauthorized({ message: ApiKey.otherForm })
          }
          const served =
            cookie === undefined
              ? serve(allowed, credential, undefined, Context.get(endpoint.annotations, IngestKeys.IngestKeys))
              : serve(allowed, cookie, sessions.authenticate)
          return yield* Effect.catchIf(served, SqlError.isSqlError, DatabaseErrors.answer)
        })
      })
    })
  )
}
