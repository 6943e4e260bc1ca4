import { createServer, type Server } from "node:http"
import { createServer as createSocketServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Layer, Scope } from "effect"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Ports from "../Ports.ts"
import { quickest } from "../Quickest.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** A collector that records everything by path. */
const collector = Effect.gen(function* () {
  const port = yield* Ports.free
  const received: Array<{ readonly path: string; readonly text: string }> = []
  yield* Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          received.push({
            path: request.url ?? "",
            text: `${JSON.stringify(request.headers)}\n${Buffer.concat(chunks)}`
          })
          response.writeHead(200, { "content-type": "application/json" }).end("{}")
        })
      })
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  return { url: `http://127.0.0.1:${port}`, received }
})

/** A collector that accepts connections without answering. */
const blackHole = Effect.gen(function* () {
  const port = yield* Ports.free
  const sockets = new Set<Socket>()
  const server = createSocketServer((socket) => void sockets.add(socket.on("error", () => {}).resume()))
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
  )
  return { url: `http://127.0.0.1:${port}`, asked: Effect.sync(() => sockets.size) }
})

/** The service with this collector, in a scope that the test closes. */
const started = Effect.fnUntraced(function* (endpoint: string, logLevel = "error") {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
  const world = yield* Layer.buildWithScope(
    TestInlet.layer({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, LOG_LEVEL: logLevel, ALLOW_PRIVATE_WEBHOOKS: "true" }),
    scope
  )
  return { inlet: Context.get(world, TestInlet), stop: Scope.close(scope, Exit.void) }
})

/** A mail from SMTP to the webhook, with known words. */
const delivered = Effect.fnUntraced(function* (inlet: TestInlet["Service"]) {
  const receiver = yield* WebhookReceiver
  const inbox = yield* inlet.inbox(`${receiver.url}?token=token-in-the-url`)
  const sent = Mail.send(inlet.smtpPort, {
    to: inbox.address,
    subject: "subject-in-the-mail",
    text: "text-in-the-mail"
  })
  const millis = yield* quickest(Effect.map(sent, (reply) => assert.match(reply, /^250 /)))
  yield* receiver.next
  yield* eventually(
    inlet.call("GET", `/api/domains/${inbox.domainId}/events`, { key: inbox.key }),
    ({ json }) => json.events[0]?.delivery.status === "delivered"
  )
  yield* inlet.call("GET", "/api/domains", { key: "ak_live_key-of-a-stranger" })
  return { inbox, millis }
})

describe("A telemetry collector", () => {
  it.live("receives logs, metrics and traces without a key, secret or word of a mail", () =>
    Effect.gen(function* () {
      const { received, url } = yield* collector
      const { inlet, stop } = yield* started(url, "debug")
      const { inbox } = yield* delivered(inlet)
      yield* stop

      const textOf = (path: string) =>
        received
          .filter((request) => request.path === path)
          .map(({ text }) => text)
          .join("\n")
      assert.include(textOf("/v1/logs"), "HTTP request")
      assert.include(textOf("/v1/metrics"), "inlet_delivery_attempts_total")
      for (const span of ["InboundEmails.insert", "EventWriter.insert"]) assert.include(textOf("/v1/traces"), span)
      const everything = received.map(({ text }) => text).join("\n")
      assert.include(everything, '"inlet"')
      for (const secret of [
        inbox.key,
        inbox.secret,
        "key-of-a-stranger",
        "token-in-the-url",
        "subject-in-the-mail",
        "text-in-the-mail"
      ]) {
        assert.notInclude(everything, secret)
      }
    }).pipe(Effect.provide(WebhookReceiver.layer))
  )

  it.live("that hangs delays neither mail, the API nor the exit", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* blackHole
      const { inlet, stop } = yield* started(url)
      yield* delivered(inlet)
      yield* eventually(asked, (connections) => connections > 0)
      const { inbox, millis } = yield* delivered(inlet)
      assert.isBelow(millis, 2_000)
      assert.isBelow(yield* quickest(inlet.call("GET", "/api/domains", { key: inbox.key })), 1_000)
      const [stopping] = yield* Effect.timed(stop)
      assert.isBelow(Duration.toMillis(stopping), 10_000)
    }).pipe(Effect.provide(WebhookReceiver.layer))
  )

  it.live("that is down changes nothing", () =>
    Effect.gen(function* () {
      const { inlet } = yield* started(`http://127.0.0.1:${yield* Ports.free}`)
      const { millis } = yield* delivered(inlet)
      assert.isBelow(millis, 2_000)
    }).pipe(Effect.provide(WebhookReceiver.layer))
  )
})
