import { request } from "node:http"
import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Array, Duration, Effect, Fiber, Layer } from "effect"
import * as Listener from "../../src/http/Listener.ts"
import { eventually } from "../Eventually.ts"
import * as OpenWaits from "../OpenWaits.ts"
import { TestInlet } from "../TestInlet.ts"

/** 1 s instead of 60 s. */
const impatient = Layer.succeed(Listener.Timeouts, {
  headersTimeout: 700,
  requestTimeout: 1_000,
  connectionsCheckingInterval: 100
})

/** A raw connection to the API, closed at the end of the scope. */
const open = Effect.fnUntraced(function* () {
  const inlet = yield* TestInlet
  let heard = ""
  let isClosed = false
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => connect(Number(new URL(inlet.url).port), "127.0.0.1").setEncoding("latin1")),
    (socket) => Effect.sync(() => socket.destroy())
  )
  socket.on("data", (chunk) => {
    heard += chunk
  })
  socket.on("error", () => {})
  socket.on("close", () => {
    isClosed = true
  })
  return {
    write: (text: string) => Effect.sync(() => void socket.write(text)),
    reset: Effect.sync(() => void socket.resetAndDestroy()),
    /** Everything received until the server closed the connection. */
    closed: Effect.map(
      eventually(
        Effect.sync(() => isClosed),
        (yes) => yes,
        "10 seconds"
      ),
      () => heard
    )
  }
})

/** Sends a byte at intervals while the connection is open. */
const dribble = (write: (text: string) => Effect.Effect<void>, text: string) =>
  Effect.forever(Effect.andThen(write(text), Effect.sleep("50 millis")))

layer(TestInlet.layer().pipe(Layer.provide(impatient)), { excludeTestServices: true })("A slow client", (it) => {
  it.effect("with a slow header is answered 408 and disconnected", () =>
    Effect.gen(function* () {
      const silent = yield* open()
      const half = yield* open()
      yield* half.write("GET /health HTTP/1.1\r\nHost: inlet.ex")
      const slow = yield* open()
      yield* slow.write("GET /health HTTP/1.1\r\nX-Slow: ")
      yield* Effect.forkChild(dribble(slow.write, "x"))
      for (const { closed } of [half, slow]) assert.match(yield* closed, /^HTTP\/1\.1 408 /)
      yield* silent.closed
    })
  )

  it.effect("with a slow body is answered 408 and disconnected, and changes nothing", () =>
    Effect.gen(function* () {
      const head = "POST /api/workspaces HTTP/1.1\r\nHost: inlet.example\r\nContent-Type: application/json\r\n"
      const announced = yield* open()
      yield* announced.write(`${head}Content-Length: 1000\r\n\r\n{"name":"`)
      yield* Effect.forkChild(dribble(announced.write, "x"))
      const chunked = yield* open()
      yield* chunked.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
      yield* Effect.forkChild(dribble(chunked.write, "1\r\nx\r\n"))
      for (const { closed } of [announced, chunked]) assert.match(yield* closed, /^HTTP\/1\.1 408 /)
    })
  )

  it.effect("with a stream or a wait is not disconnected", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, key } = yield* inlet.inbox()
      const [time, { status }] = yield* Effect.timed(
        inlet.call("GET", `/api/domains/${domainId}/events?wait=3`, { key })
      )
      assert.strictEqual(status, 200)
      assert.isAtLeast(Duration.toMillis(time), 2_900)
    })
  )
})

// All of them have the same client address.
layer(TestInlet.layer({ HTTP_MAX_CONNECTIONS_PER_IP: "0" }), {
  excludeTestServices: true
})("Many concurrent clients", (it) => {
  it.effect("leave room for others: 300 silent ones, 300 in the middle of a request, 100 that wait", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inboxes = yield* Effect.replicateEffect(inlet.inbox(), 5)
      yield* Effect.replicateEffect(open(), 300)
      const halves = yield* Effect.replicateEffect(open(), 300)
      yield* Effect.forEach(halves, ({ write }) => write("POST /api/workspaces HTTP/1.1\r\nHost: a\r\n"))
      const waits = yield* Effect.forkChild(
        Effect.forEach(
          inboxes.flatMap((inbox) => Array.replicate(inbox, 20)),
          ({ domainId, key }) => inlet.call("GET", `/api/domains/${domainId}/events?wait=60`, { key }),
          { concurrency: "unbounded" }
        )
      )
      yield* OpenWaits.are(100)
      for (const { domainId, key } of inboxes) {
        const head = yield* inlet.call("HEAD", `/api/domains/${domainId}/events/stream`, { key })
        assert.strictEqual(head.status, 429)
      }
      const [first] = inboxes
      const times: Array<number> = []
      for (const _ of Array.range(1, 50)) {
        const [time, { status }] = yield* Effect.timed(inlet.call("GET", "/api/domains", { key: first?.key }))
        assert.strictEqual(status, 200)
        times.push(Duration.toMillis(time))
      }
      // A busy machine delays a few.
      assert.isBelow(times.toSorted((one, other) => one - other)[40] ?? Number.NaN, 1_000)
      yield* Fiber.interrupt(waits)
    })
  )

  it.effect("cause no failure when they disconnect in the middle", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, key } = yield* inlet.inbox()
      const auth = `Host: a\r\nAuthorization: Bearer ${key}\r\n`
      for (const text of [
        "GET / HT",
        `POST /api/domains HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"do`,
        `GET /api/domains/${domainId}/events?wait=60 HTTP/1.1\r\n${auth}\r\n`,
        `GET /api/domains/${domainId}/events/stream HTTP/1.1\r\n${auth}\r\n`,
        `GET /docs HTTP/1.1\r\n${auth}\r\n`
      ]) {
        const { reset, write } = yield* open()
        yield* write(text)
        yield* Effect.sleep("50 millis")
        yield* reset
        assert.strictEqual((yield* inlet.call("GET", "/api/domains", { key })).status, 200)
      }
    })
  )

  it.effect("with 60 MB each are answered 413 without a rise in memory", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const chunk = Buffer.alloc(1024 * 1024, "x")
      const upload = (headers: Record<string, string>) =>
        Effect.callback<number | undefined>((resume) => {
          const upload = request(
            `${inlet.url}/api/workspaces`,
            { agent: false, method: "POST", headers: { "content-type": "application/json", ...headers } },
            (response) => {
              status = response.resume().statusCode
            }
          )
          let status: number | undefined
          upload.on("error", () => {})
          upload.on("close", () => resume(Effect.succeed(status)))
          const write = (left: number): void => {
            if (left === 0) return void upload.end()
            upload.write(chunk, () => write(left - 1))
          }
          write(60)
        })
      const before = process.memoryUsage.rss()
      const answers = yield* Effect.forEach(
        Array.makeBy(10, (index) => (index % 2 === 0 ? { "content-length": `${60 * 1024 * 1024}` } : {})),
        upload,
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers, Array.replicate(413, 10))
      assert.isBelow(process.memoryUsage.rss() - before, 150 * 1024 * 1024)
    })
  )
})
