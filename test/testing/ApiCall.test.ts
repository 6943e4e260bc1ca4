import { createServer } from "node:http"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { call } from "../ApiCall.ts"
import * as Ports from "../Ports.ts"

layer(NodeHttpClient.layerUndici, { excludeTestServices: true })("A call of the API by a test", (it) => {
  it.effect("has a connection of its own, also beside a service with an HTTP client", () =>
    Effect.gen(function* () {
      const port = yield* Ports.free
      const connections = new Set<unknown>()
      yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const server = createServer((_request, response) => void response.end("{}"))
          server.on("connection", (socket) => void connections.add(socket))
          server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) =>
          Effect.sync(() => {
            server.closeAllConnections()
            server.close()
          })
      )
      yield* Effect.replicateEffect(call(`http://127.0.0.1:${port}`, "GET", "/"), 5)
      assert.strictEqual(connections.size, 5)
    })
  )
})
