import { createServer } from "node:http"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Clock, Config, Console, Effect, FileSystem, Layer } from "effect"
import { DnsServer } from "../DnsServer.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import * as Ports from "../Ports.ts"

/** The observations, as printed. */
export interface Seen {
  readonly literal: { readonly status: number; readonly error: string }
  readonly name: { readonly status: number; readonly error: string }
  readonly refused: { readonly statusCode: number | null; readonly error: string | null }
  readonly heardWhenRefused: number
  readonly delivered: { readonly statusCode: number | null; readonly error: string | null }
  readonly heardWhenAllowed: number
  readonly throughProxy: number
  /** The numbers of all attempts, newest first, each with its process: the guarded one or the other. */
  readonly attempts: ReadonlyArray<string>
}

/** Answers HTTP at one address and counts its connections. */
const canary = Effect.fnUntraced(function* (address: string, port: number) {
  let connections = 0
  const server = createServer((request, response) => void request.resume().once("end", () => response.end("ok")))
  server.on("connection", () => connections++)
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(port, address, () => resume(Effect.void))),
    () =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )
  return { connections: Effect.sync(() => connections) }
})

/**
 * The service and a webhook whose name changes to a private address with a server: first with public addresses only,
 * then with this one allowed.
 */
const scenario = Effect.gen(function* () {
  const address = yield* Config.String("PRIVATE_ADDRESS")
  const fs = yield* FileSystem.FileSystem
  const dns = yield* DnsServer
  const port = yield* Ports.free
  const proxyPort = yield* Ports.free
  const receiver = yield* canary(address, port)
  const proxy = yield* canary("127.0.0.1", proxyPort)
  const proxyUrl = `http://127.0.0.1:${proxyPort}`
  const settings = {
    DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" }),
    DNS_SERVERS: dns.server,
    ALLOW_PRIVATE_WEBHOOKS: "false",
    WEBHOOK_RETRY_DELAYS: "1h",
    NODE_USE_ENV_PROXY: "1",
    HTTP_PROXY: proxyUrl,
    HTTPS_PROXY: proxyUrl,
    ALL_PROXY: proxyUrl,
    http_proxy: proxyUrl
  }

  const guarded = yield* InletProcess.start(settings)
  // This name is only resolved.
  yield* dns.answer("A", "hooks.example.com", { address: "1.1.1.1" })
  const webhookUrl = `http://hooks.example.com:${port}/hook`
  const inbox = yield* guarded.inbox(webhookUrl)
  yield* dns.answer("A", "hooks.example.com", { address })
  const set = (url: string) =>
    Effect.map(
      guarded.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, { key: inbox.key, body: { webhookUrl: url } }),
      ({ json, status }) => ({ status, error: json.error as string })
    )
  const literal = yield* set(`http://${address}:${port}/hook`)
  const name = yield* set(webhookUrl)

  const attemptsOf = (inlet: InletProcess.InletProcess, count: number) =>
    eventually(
      inlet.call("GET", `/api/domains/${inbox.domainId}/delivery-attempts`, { key: inbox.key }),
      ({ json }) => json.deliveryAttempts?.length === count
    ).pipe(
      Effect.map(({ json }) => {
        const { error, event_id, statusCode } = json.deliveryAttempts.at(0)
        return { statusCode, error, event_id }
      })
    )
  yield* Mail.send(guarded.smtpPort, { to: inbox.address })
  const { event_id, ...refused } = yield* attemptsOf(guarded, 1)
  const heardWhenRefused = yield* receiver.connections
  yield* guarded.signal("SIGTERM")
  yield* guarded.ending
  const endedAt = yield* Clock.currentTimeMillis

  const allowing = yield* InletProcess.start({ ...settings, WEBHOOK_ALLOW: `${address}/24` })
  yield* allowing.call("POST", `/api/domains/${inbox.domainId}/events/${event_id}/replay`, { key: inbox.key })
  const { event_id: _, ...delivered } = yield* attemptsOf(allowing, 2)
  const { json: all } = yield* allowing.call("GET", `/api/domains/${inbox.domainId}/delivery-attempts`, {
    key: inbox.key
  })
  const seen: Seen = {
    literal,
    name,
    refused,
    heardWhenRefused,
    delivered,
    heardWhenAllowed: yield* receiver.connections,
    throughProxy: yield* proxy.connections,
    attempts: all.deliveryAttempts.map(
      ({ attempt, requestedAt }: { readonly attempt: number; readonly requestedAt: string }) =>
        `${attempt} ${Date.parse(requestedAt) < endedAt ? "guarded" : "other"}`
    )
  }
  yield* Console.log(JSON.stringify(seen))
})

scenario.pipe(Effect.scoped, Effect.provide(Layer.merge(DnsServer.layer, NodeServices.layer)), NodeRuntime.runMain)
