import { Effect, Redacted } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { SqlError } from "effect/sql/SqlError"
import { serveAsHolder } from "../http/requests/Authorization.ts"
import { CurrentWorkspace } from "../http/requests/CurrentWorkspace.ts"
import type { Forbidden, NotFound, TooManyRequests, Unauthorized } from "../model/ApiError.ts"
import * as ClientSession from "./ClientSession.ts"
import * as Sessions from "./Sessions.ts"

const statuses = { Unauthorized: 401, Forbidden: 403, NotFound: 404, TooManyRequests: 429 } as const

const failure = (status: number, message: string) => HttpServerResponse.jsonUnsafe({ error: message }, { status })

/** A refusal before any MCP message, in the API's form. */
const refused = (refusal: Unauthorized | Forbidden | NotFound | TooManyRequests) => {
  const response = failure(statuses[refusal._tag], refusal.message)
  return refusal._tag === "TooManyRequests"
    ? HttpServerResponse.setHeader(response, "retry-after", `${refusal.retryAfter}`)
    : response
}

/** Messages for refusals that the library sends without text. */
const words: Readonly<Record<number, string>> = {
  403: "Origin: Expected the origin of this service, or no Origin. Pages of other sites are not served",
  404: Sessions.noSession.message,
  406: "Accept: Expected application/json, text/event-stream",
  415: "Content-Type: Expected application/json"
}

const worded = (response: HttpServerResponse.HttpServerResponse) =>
  response.status >= 400 && response.body._tag === "Empty"
    ? failure(response.status, words[response.status] ?? "Expected one message of JSON-RPC, as MCP 2025-11-25 has them")
    : response

/** Parsed like the API does: refuses everything that is not an API key. */
const credentialOf = ({ headers: { authorization = "" } }: HttpServerRequest.HttpServerRequest) =>
  Redacted.make(/^bearer /i.test(authorization) ? authorization.slice("bearer ".length).trim() : "")

/** The MCP routes. Requires a key, counts requests like the API, and gives each client its own session. */
export const make = Effect.fnUntraced(function* (serve: Sessions.Serve, allowedOrigins: ReadonlyArray<string>) {
  const asHolder = yield* serveAsHolder
  const sessions = yield* Sessions.make(serve)

  const entered = <R>(
    served: (
      request: HttpServerRequest.HttpServerRequest
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, NotFound | Unauthorized | SqlError, R>
  ) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const { origin } = request.headers
      if (origin !== undefined && !allowedOrigins.includes(origin)) {
        return Effect.succeed(worded(HttpServerResponse.empty({ status: 403 })))
      }
      return Effect.map(asHolder(served(request), credentialOf(request)), worded).pipe(
        Effect.catchTag(["Unauthorized", "Forbidden", "NotFound", "TooManyRequests"], (refusal) =>
          Effect.succeed(refused(refusal))
        )
      )
    })

  return {
    post: entered((request) =>
      Effect.gen(function* () {
        const { id, stillValid } = yield* CurrentWorkspace
        const own = yield* sessions.enter(id, request)
        // Reads the body here, so that a too large one is refused as on every route.
        const body = yield* Effect.orDie(own.text)
        yield* stillValid
        if (Sessions.isInitialize(body)) return yield* sessions.begin(own)
        return yield* serve.pipe(
          Effect.provideService(HttpServerRequest.HttpServerRequest, own),
          Effect.provideService(ClientSession.ClientSession, ClientSession.of(id, request))
        )
      })
    ),
    end: entered(({ headers }) =>
      Effect.gen(function* () {
        const { id } = yield* CurrentWorkspace
        const session = headers["mcp-session-id"]
        if (session === undefined) return failure(400, "Mcp-Session-Id: Expected the id of the session to end")
        yield* sessions.end(id, session)
        return HttpServerResponse.empty({ status: 204 })
      })
    )
  }
})
