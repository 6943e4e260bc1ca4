import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Scheduler } from "effect"
import { McpProtocol, McpServer } from "effect/ai"
import { HttpEffect, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { OpenRequests } from "../../src/http/requests/OpenRequests.ts"
import * as Door from "../../src/mcp/Door.ts"
import type { Serve } from "../../src/mcp/Sessions.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import * as Platform from "../../src/process/Platform.ts"
import { Workspaces } from "../../src/workspaces/Workspaces.ts"
import { eventually } from "../Eventually.ts"

/** The library's own endpoint. */
const library = Effect.gen(function* () {
  const router = yield* HttpRouter.make
  yield* Layer.build(
    McpServer.layerHttp({
      name: "inlet",
      version: "1",
      path: "/mcp",
      protocols: [McpProtocol.v2025_11_25],
      allowSessionTermination: true,
      allowSubscriptions: false,
      registrations: Layer.empty
    }).pipe(Layer.provide(Layer.succeed(HttpRouter.HttpRouter, router)))
  )
  return Effect.orDie(router.asHttpEffect())
})

const request = (headers: Readonly<Record<string, string>>, body: unknown) =>
  HttpServerRequest.fromWeb(
    new Request("http://localhost/mcp", {
      method: "POST",
      headers: {
        authorization: "Bearer key",
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...headers
      },
      body: JSON.stringify(body)
    })
  )

const initialize = () =>
  request(
    {},
    {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
    }
  )

/** A request in a session. */
const list = (id: string) =>
  request(
    { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" },
    { jsonrpc: "2.0", id: 2, method: "tools/list" }
  )

/** The sessions that the library opens, and the time at which all are closed. */
const sessionsOf = (serve: Serve) => {
  const opened: Array<string> = []
  const note = HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.sync(() => {
      const { "mcp-session-id": id } = response.headers
      if (id !== undefined) opened.push(id)
      return response
    })
  )
  const isOpen = (id: string) =>
    Effect.gen(function* () {
      let answer = HttpServerResponse.empty()
      yield* HttpEffect.toHandled(serve, (_, response) => Effect.sync(() => (answer = response))).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, list(id))
      )
      return answer.status !== 404
    })
  return {
    serve: Effect.ensuring(serve, note),
    opened,
    closed: eventually(
      Effect.suspend(() => Effect.filter(opened, isOpen)),
      (left) => left.length === 0
    )
  }
}

/** Handles a request in a fiber of its own, as the HTTP server does. */
const handle = <E, R>(
  post: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  asked: HttpServerRequest.HttpServerRequest
) =>
  HttpEffect.toHandled(Effect.interruptible(post), () => Effect.void).pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, asked),
    Effect.forkDetach
  )

/** The second look-up of a request's key, once its session is open. */
class Looks extends Context.Service<Looks, { isHanging: boolean }>()("inlet/test/Looks") {}

const holder = Layer.unwrap(
  Effect.map(Looks, (looks) =>
    Layer.mock(Workspaces)({
      replacements: () => ({ watch: () => Effect.never, tell: () => Effect.void }),
      authenticate: () =>
        Effect.succeed({
          id: WorkspaceId.make("01981c9e-0000-7000-8000-000000000001"),
          scope: "full",
          keyId: null,
          limit: null,
          keyHash: null,
          untilReplaced: Effect.never,
          stillValid: Effect.suspend(() => (looks.isHanging ? Effect.never : Effect.void))
        })
    })
  )
)

const World = Layer.mergeAll(
  holder,
  Layer.mock(OpenRequests)({ known: () => Effect.void, enter: () => Effect.void }),
  Platform.layer
).pipe(Layer.provideMerge(Layer.sync(Looks, () => ({ isHanging: false }))))

layer(World, { excludeTestServices: true })("When its client disconnects, MCP closes the library's session", (it) => {
  it.effect("of a request in a session", () =>
    Effect.gen(function* () {
      const { closed, opened, serve } = sessionsOf(yield* library)
      const { post } = yield* Door.make(serve, [])
      const looks = yield* Looks
      looks.isHanging = true
      const fiber = yield* handle(post, list("2025-11-25.00000000-0000-4000-8000-000000000000"))
      yield* eventually(
        Effect.sync(() => opened.length),
        (count) => count === 1
      )
      yield* Fiber.interrupt(fiber)
      yield* closed
    })
  )

  it.effect("of an `initialize`, at whatever point of it", () =>
    Effect.gen(function* () {
      const { closed, opened, serve } = sessionsOf(yield* library)
      const { post } = yield* Door.make(serve, [])
      const looks = yield* Looks
      looks.isHanging = false
      for (let steps = 0, isOver = false; !isOver; steps++) {
        const fiber = yield* Effect.provideService(handle(post, initialize()), Scheduler.MaxOpsBeforeYield, 5)
        for (let step = 0; step < steps; step++) yield* Effect.yieldNow
        isOver = fiber.pollUnsafe() !== undefined
        yield* Fiber.interrupt(fiber)
      }
      assert.isNotEmpty(opened)
      yield* closed
    })
  )
})
