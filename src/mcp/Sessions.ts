import { Effect, Fiber, Option, RcMap, Schema, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { Headers, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { NotFound } from "../model/ApiError.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import { version as ours } from "../Version.ts"

/** The library's endpoint, which serves the MCP request in the context. */
export type Serve = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** The protocols with sessions. The protocol 2026-07-28 has none. */
const withSessions = ["2025-11-25", "2025-06-18"] as const

const header = "mcp-session-id"
const versionHeader = "mcp-protocol-version"

/** The assumed protocol version of a request without one. The session's own version takes precedence. */
const assumedVersion = "2025-03-26"

/** The number of ended sessions to remember. */
const rememberedEnds = 10_000

const form = new RegExp(`^(${withSessions.join("|")})[.][\\da-f]{8}(-[\\da-f]{4}){3}-[\\da-f]{12}$`)

/** The session is unknown. */
export const noSession = new NotFound({
  message: "Unknown or ended session. Send `initialize` without an Mcp-Session-Id, then use the new id"
})

const decodeInitialize = Schema.decodeOption(
  Schema.fromJsonString(Schema.Struct({ method: Schema.Literal("initialize") }))
)

/** True for the body of a request for which the library opens a session. */
export const isInitialize = (body: string) => Option.isSome(decodeInitialize(body))

/**
 * Stateless sessions of MCP. The client's id contains its protocol, and a session of the library exists only while
 * requests of the client run. So sessions survive a restart and continue in any process. A session is only needed for
 * one request to cancel another.
 */
export const make = Effect.fnUntraced(function* (serve: Serve) {
  const random = yield* SecureRandom.SecureRandom
  const scope = yield* Effect.scope

  /**
   * Works in a fiber that goes on without the client. The library stops in an interrupted one, and would keep a session
   * whose id no client has.
   */
  const detached = <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.flatMap(Effect.forkIn(work, scope), Fiber.join)

  /** Calls the library inside of this process. */
  const ask = (request: HttpServerRequest.HttpServerRequest) => {
    let answer = HttpServerResponse.empty({ status: 500 })
    return HttpEffect.toHandled(serve, (_, response) => Effect.sync(() => (answer = response))).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, request),
      Effect.flatMap(() => Effect.succeed(answer))
    )
  }
  const askDetached = (request: Request) => detached(ask(HttpServerRequest.fromWeb(request)))
  const close = (id: string) =>
    askDetached(new Request("http://localhost/mcp", { method: "DELETE", headers: { [header]: id } }))
  const open = Effect.fnUntraced(function* (protocolVersion: string) {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "inlet", version: ours } }
    const { headers } = yield* askDetached(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })
      })
    )
    return headers[header] ?? (yield* Effect.die(new Error(`The library opened no session for MCP ${protocolVersion}`)))
  })

  const handOut = Effect.fnUntraced(function* (response: HttpServerResponse.HttpServerResponse) {
    const { [header]: opened, [versionHeader]: protocol } = response.headers
    if (opened === undefined || protocol === undefined) return response
    yield* close(opened)
    return HttpServerResponse.setHeader(response, header, `${protocol}.${yield* random.uuidV4()}`)
  })

  const underWay = yield* RcMap.make({
    lookup: (key: string) => {
      const [, id = ""] = key.split(" ")
      return Effect.acquireRelease(open(id.slice(0, id.indexOf("."))), close)
    }
  })
  const ended = new Set<string>()
  const keyOf = (owner: WorkspaceId, id: string) => `${owner} ${id}`

  return {
    /** Serves an `initialize`. Closes the session that it opens, and names another one to the client. */
    begin: (request: HttpServerRequest.HttpServerRequest) => detached(Effect.flatMap(ask(request), handOut)),
    /** The request in the library's form, while it runs. */
    enter: Effect.fnUntraced(function* (
      owner: WorkspaceId,
      request: HttpServerRequest.HttpServerRequest
    ): Effect.fn.Return<HttpServerRequest.HttpServerRequest, NotFound, Scope.Scope> {
      const id = request.headers[header]
      if (id === undefined) return request
      const key = keyOf(owner, id)
      if (!form.test(id) || ended.has(key)) return yield* noSession
      const headers =
        request.headers[versionHeader] === assumedVersion
          ? Headers.remove(request.headers, versionHeader)
          : request.headers
      return request.modify({ headers: Headers.set(headers, header, yield* RcMap.get(underWay, key)) })
    }),
    /** Ends a session with its requests in this process. */
    end: Effect.fnUntraced(function* (owner: WorkspaceId, id: string) {
      const key = keyOf(owner, id)
      if (!form.test(id) || ended.has(key)) return yield* noSession
      ended.add(key)
      const [oldest] = ended
      if (ended.size > rememberedEnds && oldest !== undefined) ended.delete(oldest)
      if (yield* RcMap.has(underWay, key)) yield* Effect.scoped(Effect.flatMap(RcMap.get(underWay, key), close))
    })
  }
})
