import { Effect, RcMap, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { Headers, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { NotFound } from "../model/ApiError.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import { version as ours } from "../Version.ts"

/** The library's endpoint: serves the request of MCP that is in the context. */
export type Serve = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** The protocols with sessions. That of 2026-07-28 has none. */
const withSessions = ["2025-11-25", "2025-06-18"] as const

const header = "mcp-session-id"
const versionHeader = "mcp-protocol-version"

/** The assumed protocol version of a request without one. The session's own version takes precedence. */
const assumedVersion = "2025-03-26"

/** Ended sessions that are remembered as such. */
const rememberedEnds = 10_000

const form = new RegExp(`^(${withSessions.join("|")})[.][\\da-f]{8}(-[\\da-f]{4}){3}-[\\da-f]{12}$`)

/** It is not there. */
export const noSession = new NotFound({
  message: "Unknown or ended session. Send `initialize` without an Mcp-Session-Id, then use the new id"
})

/**
 * Sessions of MCP that cost nothing while nobody asks: the id that a client has names its protocol,
 * and a session of the library's is there only as long as requests of the client are under way. So they
 * outlive a restart, and go on in whichever process a request comes to. What a session is good for is
 * that one of its requests can cancel another.
 */
export const make = Effect.fnUntraced(function* (serve: Serve) {
  const random = yield* SecureRandom.SecureRandom

  /** Asks the library inside of this process. */
  const ask = (request: Request) => {
    let answer = HttpServerResponse.empty({ status: 500 })
    return HttpEffect.toHandled(serve, (_, response) => Effect.sync(() => (answer = response))).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
      Effect.flatMap(() => Effect.succeed(answer))
    )
  }
  const close = (id: string) =>
    ask(new Request("http://localhost/mcp", { method: "DELETE", headers: { [header]: id } }))
  const open = Effect.fnUntraced(function* (protocolVersion: string) {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "inlet", version: ours } }
    const { headers } = yield* ask(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })
      })
    )
    return headers[header] ?? (yield* Effect.die(new Error(`No session of MCP ${protocolVersion} can be opened`)))
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
    /** What an `initialize` has opened is closed again, and its client gets an id that names no place. */
    handOut: Effect.fnUntraced(function* (response: HttpServerResponse.HttpServerResponse) {
      const { [header]: opened, [versionHeader]: protocol } = response.headers
      if (opened === undefined || protocol === undefined) return response
      yield* close(opened)
      return HttpServerResponse.setHeader(response, header, `${protocol}.${yield* random.uuidV4()}`)
    }),
    /** The request as the library has to see it, until it is over. */
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
    /** Ends a session, and what is under way in it here. */
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
