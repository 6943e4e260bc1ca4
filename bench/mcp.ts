import { NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer, Schema } from "effect"
import { Command } from "effect/cli"
import * as InletProcess from "../test/InletProcess.ts"
import * as Ports from "../test/Ports.ts"
import * as Flags from "./Flags.ts"
import * as Inspector from "./Inspector.ts"

class Grown extends Schema.TaggedError<Grown>()("Grown", { message: Schema.String }) {}

const mostMegabytes = 20

const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } }
}

/** Checks for leaks of MCP sessions: the memory of a service before and after many sessions that were not closed. */
Command.make(
  "mcp",
  {
    sessions: Flags.count("sessions", 20_000, "Sessions to open"),
    calls: Flags.count("calls", 2_000, "Calls of tools, each in another session")
  },
  Effect.fn(function* ({ calls, sessions }) {
    const fs = yield* FileSystem.FileSystem
    const inspector = yield* Ports.free
    const inlet = yield* InletProcess.start({
      DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-mcp-" }),
      HTTP_REQUESTS_PER_SECOND: "0",
      WORKSPACES_PER_IP_PER_DAY: "0",
      NODE_OPTIONS: `--inspect=127.0.0.1:${inspector}`
    })
    const inspected = yield* Inspector.attach(inspector)
    const { json: workspace } = yield* inlet.call("POST", "/api/workspaces", { body: { name: "bench" } })
    const key = workspace.api_key as string
    const { json: inbox } = yield* inlet.call("POST", "/api/instant-inbox", { key })
    const { json } = yield* inlet.call("POST", `/api/domains/${inbox.domain_id}/simulate?wait=10`, {
      key,
      body: { sample: "newsletter" }
    })
    const event_id = json.events[0].event_id as string

    const post = (body: object, more: Readonly<Record<string, string>> = {}) =>
      inlet.call("POST", "/mcp", {
        key,
        body,
        headers: { accept: "application/json, text/event-stream", ...more }
      })
    const open = Effect.gen(function* () {
      const { headers } = yield* post(initialize)
      const session = {
        "mcp-session-id": headers["mcp-session-id"] ?? "",
        "mcp-protocol-version": headers["mcp-protocol-version"] ?? ""
      }
      yield* post({ jsonrpc: "2.0", method: "notifications/initialized" }, session)
      return session
    })
    const tools = [
      ["get_inboxes", {}],
      ["list_mail", {}],
      ["read_mail", { event_id }],
      ["wait_for_code", { seconds: 0 }]
    ] as const
    const round = Effect.fnUntraced(function* (sessions: number, calls: number) {
      const opened = yield* Effect.replicateEffect(open, sessions, { concurrency: 8 })
      yield* Effect.forEach(
        Array.from({ length: calls }, (_, index) => index),
        Effect.fnUntraced(function* (index) {
          const [name, args] = tools[index % tools.length] ?? tools[0]
          const call = { jsonrpc: "2.0", id: index, method: "tools/call", params: { name, arguments: args } }
          const { json, text } = yield* post(call, opened[index % opened.length])
          if (json?.result?.isError !== undefined || json?.result === undefined) {
            return yield* new Grown({ message: `${name} failed: ${text}` })
          }
        }),
        { concurrency: 4, discard: true }
      )
    })

    // Loaded and compiled code does not count as growth.
    yield* round(Math.min(sessions, 1_000), Math.min(calls, 400))
    const before = yield* inspected.held
    const started = performance.now()
    yield* round(sessions, calls)
    const seconds = (performance.now() - started) / 1_000
    const after = yield* inspected.held
    const grown = after.heapMegabytes - before.heapMegabytes
    yield* Console.log(
      `${sessions} sessions and ${calls} calls in ${seconds.toFixed(0)} s: heap ${before.heapMegabytes.toFixed(1)} → ${after.heapMegabytes.toFixed(1)} MB, fibers ${before.fibers} → ${after.fibers}, listeners ${before.listeners} → ${after.listeners}`
    )
    if (grown > mostMegabytes) return yield* new Grown({ message: `It has grown by ${grown.toFixed(1)} MB` })
  }, Effect.scoped)
).pipe(
  Command.run({ version: "0" }),
  Effect.provide(Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)),
  NodeRuntime.runMain
)
