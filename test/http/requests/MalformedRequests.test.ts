import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestInlet } from "../../TestInlet.ts"

/** Sends bytes, and more once an answer begins. Returns all that comes back until the end of the connection. */
const exchange = (url: string, bytes: string, more?: string) =>
  Effect.callback<string>((resume) => {
    const { hostname, port } = new URL(url)
    let answer = ""
    const socket = connect(Number(port), hostname, () => socket.write(bytes, "latin1"))
    socket.setEncoding("utf8")
    socket.on("data", (text) => {
      if (answer === "" && more !== undefined) socket.write(more)
      answer += text
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(answer)))
    return Effect.sync(() => socket.destroy())
  })

layer(TestInlet.layer(), { excludeTestServices: true })("A request that is no HTTP", (it) => {
  it.effect("is answered with a JSON error and a request id, and the connection ends", () =>
    Effect.gen(function* () {
      const { url } = yield* TestInlet
      const host = "Host: inlet.example"
      for (const [bytes, status, error] of [
        ["HELLO\r\n\r\n", 400, /^Expected an HTTP\/1\.1 request/],
        [`PROPFOO /health HTTP/1.1\r\n${host}\r\n\r\n`, 400, /^Expected an HTTP\/1\.1 request/],
        [
          `POST /health HTTP/1.1\r\n${host}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n`,
          400,
          /^Expected an HTTP\/1\.1 request/
        ],
        [`GET /health?q=${"a".repeat(17_000)} HTTP/1.1\r\n${host}\r\n\r\n`, 431, /^Expected a URL .* 16 KiB/],
        [`GET /health HTTP/1.1\r\n${host}\r\nExpect: tea\r\n\r\n`, 417, /^Expect: /]
      ] as const) {
        const answer = yield* exchange(url, bytes)
        const [head = "", body = ""] = answer.split("\r\n\r\n")
        const what = bytes.slice(0, 60)
        assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`), what)
        assert.match(head, /^content-type: application\/json\r?$/im, what)
        assert.match(head, /^x-request-id: [\w-]{36}\r?$/im, what)
        assert.match(head, /^connection: close\r?$/im, what)
        const told = JSON.parse(body)
        assert.deepStrictEqual(Object.keys(told), ["error"], what)
        assert.match(told.error, error, what)
      }
    })
  )

  it.effect("in the middle of an answer only ends the connection", () =>
    Effect.gen(function* () {
      const { inbox, url } = yield* TestInlet
      const { domainId, key } = yield* inbox()
      const stream = `GET /api/domains/${domainId}/events/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`
      const answer = yield* exchange(url, stream, "HELLO\r\n\r\n")
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
      assert.strictEqual(answer.split("HTTP/1.1").length, 2, answer)
    })
  )
})
