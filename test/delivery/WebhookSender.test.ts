import { createServer as createHttpServer } from "node:http"
import { createServer as createHttpsServer } from "node:https"
import { createServer, type Server, type Socket } from "node:net"
import { gzipSync } from "node:zlib"
import { assert, layer } from "@effect/vitest"
import { Array, ConfigProvider, type Duration, Effect, Fiber, Layer, Redacted } from "effect"
import { generate } from "selfsigned"
import { type Outcome, WebhookSender } from "../../src/delivery/WebhookSender.ts"
import { EventId } from "../../src/model/InboundEvent.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import * as Platform from "../../src/process/Platform.ts"
import * as Resolver from "../../src/providers/dns/Resolver.ts"
import { SigningFailed, WebhookSigner } from "../../src/providers/signing/WebhookSigner.ts"
import { version } from "../../src/Version.ts"
import { eventually } from "../Eventually.ts"
import * as Ports from "../Ports.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const workspaceId = WorkspaceId.make("01980000-0000-7000-8000-000000000002")
const eventId = EventId.make("01980000-0000-7000-8000-000000000001")
const payload = JSON.stringify({ event_id: eventId, subject: "Grüße 📬", text: "a\u0000b\u2028c" })
const secrets = { current: Redacted.make(`whsec_${Buffer.alloc(32, 7).toString("base64")}`), previous: undefined }

const senderWith = (env: Record<string, string>, signer = WebhookSigner.layer) =>
  WebhookSender.layer.pipe(
    Layer.provide([Resolver.layer, signer]),
    Layer.provide(Platform.layer),
    Layer.provide(
      ConfigProvider.layer(
        // A DNS server that does not exist: no query leaves the machine.
        ConfigProvider.fromEnv({ env: { WEBHOOK_TIMEOUT: "30s", DNS_SERVERS: "127.0.0.1:9", ...env } })
      )
    )
  )

const impatient = senderWith({ WEBHOOK_TIMEOUT: "1s" })
const patient = senderWith({ WEBHOOK_TIMEOUT: "5s" })

/** Ended by the timeout of `impatient`, with seconds to spare for a busy machine. */
const timedOut = ({ durationMs }: Outcome) => {
  assert.isAtLeast(durationMs, 990)
  assert.isBelow(durationMs, 10_000)
}

const send = (url: string) =>
  WebhookSender.use((sender) => sender.send({ url, eventId, payload: Buffer.from(payload), secrets, workspaceId }))

/** The connections of a server, closed with it. */
const listening = Effect.fnUntraced(function* (server: Server, scheme = "http") {
  const port = yield* Ports.free
  const sockets: Array<Socket> = []
  server.on("connection", (socket) => {
    sockets.push(socket)
    socket.on("error", () => {})
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.callback<void>((resume) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resume(Effect.void))
      })
  )
  return { url: `${scheme}://127.0.0.1:${port}/hook`, sockets }
})

/** A server below HTTP that controls each connection after a request has started. */
const raw = (react: (socket: Socket) => void) =>
  listening(createServer((socket) => void socket.once("data", () => react(socket))))

/** Writes repeatedly until the peer closes. */
const drip = (socket: Socket, piece: string, milliseconds: number) =>
  Effect.sync(() => void socket.write(piece)).pipe(
    Effect.andThen(Effect.sleep(milliseconds)),
    Effect.repeat({ while: () => !socket.destroyed }),
    Effect.runFork
  )

const closed = (sockets: ReadonlyArray<Socket>) =>
  eventually(
    Effect.sync(() => sockets.map(({ destroyed }) => destroyed)),
    (all) => all.length > 0 && all.every((gone) => gone),
    "5 seconds"
  )

layer(senderWith({}), { excludeTestServices: true })("WebhookSender", (it) => {
  it.effect("sends one POST with the exact bytes of the payload and its User-Agent", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const outcome = yield* send(`${receiver.url}?token=1`)
      assert.deepInclude(outcome, { statusCode: 200, error: null, responseBody: '{"ok":true}' })

      const [request, ...more] = yield* receiver.all
      assert.deepStrictEqual(more, [])
      assert.strictEqual(request?.method, "POST")
      assert.strictEqual(request?.path, "/hook?token=1")
      assert.deepStrictEqual(request?.body, Buffer.from(payload))
      assert.strictEqual(request?.headers["content-type"], "application/json")
      assert.strictEqual(request?.headers["content-length"], `${Buffer.byteLength(payload)}`)
      assert.strictEqual(request?.headers["user-agent"], `Inlet/${version}`)
      assert.strictEqual(request?.headers["x-service-event-id"], eventId)
      assert.notProperty(request?.headers, "accept-encoding")
    })
  )

  it.effect("treats any 2xx as success and every other status as failure", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      for (const status of [200, 201, 202, 204, 299]) {
        yield* receiver.answerWith(status)
        assert.deepInclude(yield* send(receiver.url), { statusCode: status, error: null })
      }
      for (const status of [300, 304, 400, 401, 404, 410, 429, 500, 503, 599]) {
        yield* receiver.answerWith(status)
        const outcome = yield* send(receiver.url)
        assert.deepInclude(outcome, { statusCode: status, error: `the webhook answered ${status}` })
      }
    })
  )

  it.effect("follows no redirect", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const elsewhere = yield* WebhookReceiver.make
      for (const status of [301, 302, 303, 307, 308]) {
        yield* receiver.answerWith({ status, headers: { location: elsewhere.url } })
        const outcome = yield* send(receiver.url)
        assert.deepInclude(outcome, { statusCode: status, error: `the webhook answered ${status}` })
      }
      assert.deepStrictEqual(yield* elsewhere.all, [])

      const before = (yield* receiver.all).length
      for (const location of [receiver.url, "file:///etc/passwd", "//169.254.169.254/", "http://[::1]/", ""]) {
        yield* receiver.answerWith({ status: 307, headers: { location } })
        assert.deepInclude(yield* send(receiver.url), { statusCode: 307, error: "the webhook answered 307" })
      }
      assert.lengthOf(yield* receiver.all, before + 5)
    })
  )

  it.effect("returns Retry-After as sent", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerWith({ status: 503, headers: { "retry-after": "120" } })
      assert.strictEqual((yield* send(receiver.url)).retryAfter, "120")
      assert.strictEqual((yield* send(receiver.url)).retryAfter, null)
    })
  )

  it.effect("keeps the first KiB of an answer", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      for (const [body, kept] of [
        ["", ""],
        ["a".repeat(1_024), "a".repeat(1_024)],
        ["a".repeat(1_025), "a".repeat(1_024)],
        ["b".repeat(1_000_000), "b".repeat(1_024)],
        ["before\u0000after", "beforeafter"]
      ] as const) {
        yield* receiver.answerWith({ status: 200, body })
        const outcome = yield* send(receiver.url)
        assert.strictEqual(outcome.statusCode, 200)
        assert.strictEqual(outcome.responseBody, kept)
      }
    })
  )

  it.effect("aborts an endless answer and keeps its success", () =>
    Effect.gen(function* () {
      const { sockets, url } = yield* raw((socket) => {
        socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        const flood = () => {
          while (!socket.destroyed && socket.write(`10000\r\n${"x".repeat(0x10000)}\r\n`)) {}
        }
        socket.on("drain", flood)
        flood()
      })
      const outcome = yield* send(url)
      assert.deepInclude(outcome, { statusCode: 200, error: null, responseBody: "x".repeat(1_024) })
      // Far below the timeout, which would also end the answer.
      assert.isBelow(outcome.durationMs, 15_000)
      yield* closed(sockets)
    })
  )

  it.effect("reads a slow answer until the timeout and keeps its status", () =>
    Effect.gen(function* () {
      const { sockets, url } = yield* raw((socket) => {
        socket.write("HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n")
        drip(socket, "1\r\n.\r\n", 100)
      })
      const outcome = yield* send(url)
      assert.deepInclude(outcome, { statusCode: 202, error: null })
      assert.match(outcome.responseBody ?? "", /^\.{2,}$/)
      assert.isAtLeast(outcome.durationMs, 4_990)
      assert.isBelow(outcome.durationMs, 20_000)
      yield* closed(sockets)
    }).pipe(Effect.provide(patient, { local: true }))
  )

  it.effect("keeps the status of an answer with an aborted body", () =>
    Effect.gen(function* () {
      for (const [status, error] of [
        [200, null],
        [500, "the webhook answered 500"]
      ] as const) {
        for (const broken of ["Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"]) {
          const { url } = yield* raw((socket) => void socket.end(`HTTP/1.1 ${status} Status\r\n${broken}`))
          const outcome = yield* send(url)
          assert.deepInclude(outcome, { statusCode: status, error, responseBody: "half" })
        }
      }
    })
  )

  it.effect("does not decompress an answer", () =>
    Effect.gen(function* () {
      const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
      const { url } = yield* raw((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
        socket.end(bomb)
      })
      const outcome = yield* send(url)
      assert.deepInclude(outcome, { statusCode: 200, error: null })
      assert.isAtMost(outcome.responseBody?.length ?? Number.NaN, 1_024)
      assert.notInclude(outcome.responseBody ?? "", "\0")
    })
  )

  it.effect("fails a silent webhook after WEBHOOK_TIMEOUT and closes the connection", () =>
    Effect.gen(function* () {
      const { sockets, url } = yield* raw(() => {})
      const outcome = yield* send(url)
      assert.deepInclude(outcome, { statusCode: null, error: "no answer within 1 s", responseBody: null })
      timedOut(outcome)
      yield* closed(sockets)
    }).pipe(Effect.provide(impatient, { local: true }))
  )

  it.effect("times out each request from its own start", () =>
    Effect.gen(function* () {
      const { url } = yield* raw(() => {})
      const outcomes = yield* Effect.forEach([0, 300, 600, 900], (wait) => Effect.delay(send(url), wait), {
        concurrency: "unbounded"
      })
      for (const outcome of outcomes) {
        assert.strictEqual(outcome.error, "no answer within 1 s")
        timedOut(outcome)
      }
    }).pipe(Effect.provide(impatient, { local: true }))
  )

  it.effect("aborts an interrupted request at any time, without an outcome", () =>
    Effect.gen(function* () {
      const { sockets, url } = yield* raw((socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"))
      const heard: Array<Outcome> = []
      const start = Effect.forkChild(
        Effect.tap(send(url), (outcome) => Effect.sync(() => heard.push(outcome))),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(yield* start)
      yield* closed(sockets)
      const begun = yield* start
      yield* eventually(
        Effect.sync(() => sockets.filter(({ bytesRead }) => bytesRead > 0).length),
        (asked) => asked === 1
      )
      yield* Fiber.interrupt(begun)
      yield* closed(sockets)
      assert.deepStrictEqual(heard, [])
    })
  )

  it.effect("times out on slow headers and on endless 103 answers", () =>
    Effect.gen(function* () {
      for (const [start, piece] of [
        ["HTTP/1.1 200 OK\r\n", "X-More: 1\r\n"],
        ["", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"]
      ] as const) {
        const { sockets, url } = yield* raw((socket) => {
          socket.write(start)
          drip(socket, piece, 50)
        })
        const outcome = yield* send(url)
        assert.deepInclude(outcome, { statusCode: null, error: "no answer within 1 s" })
        timedOut(outcome)
        yield* closed(sockets)
      }
    }).pipe(Effect.provide(impatient, { local: true }))
  )

  it.effect("reports a protocol mismatch in plain words as a failure to retry", () =>
    Effect.gen(function* () {
      for (const head of [
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 101 Hm\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"
      ]) {
        const { sockets, url } = yield* raw((socket) => void socket.write(head))
        assert.deepInclude(yield* send(url), {
          statusCode: null,
          error: "the webhook answered 101 and wants another protocol; a webhook has to answer 2xx"
        })
        yield* closed(sockets)
      }
    })
  )

  it.effect("reports refused, reset and closed connections in plain words", () =>
    Effect.gen(function* () {
      const nobody = yield* send(`http://127.0.0.1:${yield* Ports.free}/hook`)
      assert.deepInclude(nobody, { statusCode: null, error: "connection refused", responseBody: null })

      const reset = yield* raw((socket) => void socket.resetAndDestroy())
      assert.deepInclude(yield* send(reset.url), {
        statusCode: null,
        error: "connection reset before an answer"
      })

      const left = yield* raw((socket) => void socket.end())
      const outcome = yield* send(left.url)
      assert.strictEqual(outcome.statusCode, null)
      assert.match(outcome.error ?? "", /closed/)
    })
  )

  it.effect("fails on an answer other than HTTP and on endless headers", () =>
    Effect.gen(function* () {
      const flood = `HTTP/1.1 200 OK\r\n${"X-Flood: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(10_000)}\r\n`
      for (const rubbish of ["220 mail.example ESMTP\r\n", "HTTP/1.1 abc\r\n\r\n", flood]) {
        const { url } = yield* raw((socket) => void socket.end(rubbish))
        const outcome = yield* send(url)
        assert.strictEqual(outcome.statusCode, null)
        assert.match(outcome.error ?? "", /^no (valid )?answer \(\w+: .+\)$/)
      }
    })
  )

  it.effect("fails on an untrusted certificate", () =>
    Effect.gen(function* () {
      const pem = yield* Effect.promise(() =>
        generate([{ name: "commonName", value: "hooks.example" }], { keyType: "ec", algorithm: "sha256" })
      )
      const { url } = yield* listening(
        createHttpsServer({ key: pem.private, cert: pem.cert }, (_request, response) => void response.end()),
        "https"
      )
      assert.deepInclude(yield* send(url), { statusCode: null, error: "the certificate is self-signed" })
    })
  )

  it.effect("reuses its connections", () =>
    Effect.gen(function* () {
      const { sockets, url } = yield* listening(
        createHttpServer((request, response) => void request.resume().once("end", () => response.end("ok")))
      )
      yield* Effect.replicateEffect(send(url), 20)
      // One more if a request starts before the end of the last answer is noticed.
      assert.isAtMost(sockets.length, 2)
    })
  )

  it.effect("reconnects after the peer closes an idle connection", () =>
    Effect.gen(function* () {
      const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      const { sockets, url } = yield* listening(
        createServer((socket) => void socket.on("data", () => void socket.end(answer)))
      )
      for (const _ of Array.range(1, 5)) {
        assert.deepInclude(yield* send(url), { statusCode: 200, error: null })
        yield* closed(sockets)
      }
      assert.lengthOf(sockets, 5)
    })
  )
})

layer(senderWith({ DELIVERY_CONCURRENCY: "20", DELIVERY_CONCURRENCY_PER_WEBHOOK: "1", WEBHOOK_TIMEOUT: "30s" }), {
  excludeTestServices: true
})("A host with the webhooks of many domains", (it) => {
  it.effect("is delivered to while some of its webhooks hang", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerAlways((request, response) => {
        if (request.url !== "/hook?hangs") response.end()
      })
      const hanging = yield* Effect.forkChild(
        Effect.replicateEffect(send(`${receiver.url}?hangs`), 19, {
          concurrency: "unbounded"
        })
      )
      yield* eventually(receiver.all, (requests) => requests.length === 19)
      const outcome = yield* send(receiver.url)
      assert.deepInclude(outcome, { statusCode: 200, error: null })
      // The others hang for 30 s.
      assert.isBelow(outcome.durationMs, 15_000)
      yield* Fiber.interrupt(hanging)
    })
  )
})

const signedAfter = (wait: Duration.Input) =>
  Layer.succeed(WebhookSigner, {
    sign: ({ eventId, workspaceId }) => Effect.as(Effect.sleep(wait), { "X-Signed-For": `${workspaceId} ${eventId}` })
  })

layer(senderWith({}, signedAfter("50 millis")), { excludeTestServices: true })("A slow signer", (it) => {
  it.effect("has its headers sent with the request", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      assert.deepInclude(yield* send(receiver.url), { statusCode: 200, error: null })
      const [request] = yield* receiver.all
      assert.strictEqual(request?.headers["x-signed-for"], `${workspaceId} ${eventId}`)
      assert.strictEqual(request?.headers["content-type"], "application/json")
    })
  )
})

layer(senderWith({ WEBHOOK_TIMEOUT: "1s" }, signedAfter("1 hour")), { excludeTestServices: true })(
  "A hanging signer",
  (it) => {
    it.effect("fails the attempt after the webhook timeout without a request", () =>
      Effect.gen(function* () {
        const receiver = yield* WebhookReceiver.make
        assert.deepInclude(yield* send(receiver.url), {
          statusCode: null,
          error: "the request could not be signed: no signature within 1 s"
        })
        assert.lengthOf(yield* receiver.all, 0)
      })
    )
  }
)

const refusing = Layer.succeed(WebhookSigner, {
  sign: () => Effect.fail(new SigningFailed({ message: "the key store answered 403" }))
})

layer(senderWith({}, refusing), { excludeTestServices: true })("A failing signer", (it) => {
  it.effect("fails the attempt with its message", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { error } = yield* send(receiver.url)
      assert.strictEqual(error, "the request could not be signed: the key store answered 403")
    })
  )
})
