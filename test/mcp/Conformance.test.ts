import { createServer, request } from "node:http"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"
import { TestInlet } from "../TestInlet.ts"

/** The suite has no keys: a proxy adds one and changes nothing else. */
const keyed = Effect.fnUntraced(function* (port: number, key: string) {
  const inlet = yield* TestInlet
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((asked, answered) => {
        const headers = { ...asked.headers, authorization: `Bearer ${key}` }
        const forwarded = request(
          `${inlet.url}${asked.url}`,
          { method: asked.method ?? "GET", headers },
          (response) => {
            answered.writeHead(response.statusCode ?? 500, response.headers)
            response.pipe(answered)
          }
        )
        forwarded.once("error", () => answered.destroy())
        asked.pipe(forwarded)
      })
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close().closeAllConnections())
  )
})

/** The scenarios that need none of the suite's own tools, resources and prompts. */
const scenarios = [
  "server-initialize",
  "ping",
  "logging-set-level",
  "tools-list",
  "resources-list",
  "prompts-list",
  "server-sse-multiple-streams",
  "dns-rebinding-protection"
]

describe("The conformance suite of MCP", () => {
  it.live("passes the server scenarios, including dns-rebinding", () =>
    Effect.gen(function* () {
      const port = yield* Ports.free
      const url = `http://localhost:${port}`
      const inlet = yield* Layer.build(TestInlet.layer({ SERVICE_PUBLIC_URL: url }))
      const { stdout } = yield* Effect.gen(function* () {
        yield* keyed(port, (yield* (yield* TestInlet).inbox()).key)
        // Without an output option it writes its results into the working folder.
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-conformance-" })
        const suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
        return yield* Program.run(process.execPath, [suite, "server", "--url", `${url}/mcp`, "-o", folder])
      }).pipe(Effect.provide(inlet))
      const [, summary = ""] = stdout.split("=== SUMMARY ===")
      for (const name of scenarios) assert.match(summary, new RegExp(`^✓ ${name}: [1-9]\\d* passed, 0 failed$`, "m"))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
