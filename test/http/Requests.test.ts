import { connect } from "node:net"
import { gzipSync } from "node:zlib"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Answer } from "../ApiCall.ts"
import { TestInlet } from "../TestInlet.ts"

const uuid = "01890000-0000-7000-8000-000000000000"

const assertError = ({ headers, json, status, text }: Answer, expected: number, message = /./) => {
  assert.strictEqual(status, expected, text.slice(0, 200))
  assert.match(headers["content-type"] ?? "", /^application\/json/)
  assert.deepStrictEqual(Object.keys(json), ["error"])
  assert.match(json.error, message)
  assert.notMatch(json.error, /SELECT|INSERT|node_modules|\.ts:|\n {4}at /)
}

/** Writes chunks on one raw connection until the server has answered and closed, or answered everything. */
const speak = (url: string, ...pieces: ReadonlyArray<string | Buffer>) =>
  Effect.callback<string>((resume) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1").setEncoding("latin1")
    let heard = ""
    const write = ([piece, ...rest]: ReadonlyArray<string | Buffer>): void => {
      if (piece !== undefined && !socket.destroyed) socket.write(piece, () => setImmediate(write, rest))
    }
    socket.on("data", (chunk) => {
      heard += chunk
      if (/\r\n\r\n/.test(heard)) socket.end()
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(heard)))
    write(pieces)
    return Effect.sync(() => socket.destroy())
  }).pipe(Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => Effect.succeed("no answer within 10 s") }))

const head = (...lines: ReadonlyArray<string>) => `${[...lines, "Host: inlet.example"].join("\r\n")}\r\n\r\n`

layer(TestInlet.layer(), { excludeTestServices: true })("Requests", (it) => {
  describe("for an unknown route", () => {
    it.effect("answer 404, also without a key", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        for (const path of ["/nope", "/api", "/api/", "/api/nope?a=b", "/api/domains/%zz"]) {
          assertError(yield* inlet.call("GET", path), 404)
        }
      })
    )

    it.effect("answer 404 for a path in another spelling, which a rule of a proxy would miss", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        for (const path of [
          "/METRICS",
          "//metrics",
          "/%6detrics",
          "/Admin/status",
          "//api/workspaces",
          "/api/%77orkspaces"
        ]) {
          assertError(yield* inlet.call("GET", path), 404)
        }
        assert.strictEqual((yield* inlet.call("GET", "/metrics/")).status, 200)
      })
    )

    it.effect("answer 405 with Allow to an unsupported method, also without a key", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        const wrong = [
          ["GET", "/api/workspaces", "POST"],
          ["GET", "/api/workspaces/", "POST"],
          ["PUT", "/api/domains", "POST, GET, HEAD"],
          ["DELETE", "/api/instant-inbox", "POST"],
          ["PATCH", "/health", "GET, HEAD"],
          ["OPTIONS", "/api/domains", "POST, GET, HEAD"],
          ["POST", `/api/domains/${uuid}`, "GET, HEAD, PATCH, DELETE"],
          ["POST", `/api/domains/${uuid}/events?limit=5`, "GET, HEAD"],
          ["POST", "/metrics", "GET, HEAD"],
          // Not a domain, whose routes take these.
          ["DELETE", "/api/domains/orders", "GET, HEAD"],
          ["PATCH", "/api/domains/search", "GET, HEAD"],
          ["DELETE", "/llms.txt", "GET, HEAD"]
        ] as const
        for (const [method, path, allowed] of wrong) {
          for (const options of [{}, { key }]) {
            const answer = yield* inlet.call(method, path, options)
            assertError(answer, 405, new RegExp(`^This route does not take ${method}, only ${allowed}$`))
            assert.strictEqual(answer.headers.allow, allowed)
          }
        }
      })
    )

    it.effect("reveal nothing about the operator routes", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        for (const path of ["/admin/domains", "/admin/domains/example.com/disable"]) {
          const answer = yield* inlet.call("PATCH", path)
          assertError(answer, 404)
          assert.notProperty(answer.headers, "allow")
        }
      })
    )

    it.effect("answer HEAD as GET without a body", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const found = yield* inlet.call("HEAD", "/health")
        assert.strictEqual(found.status, 200)
        assert.strictEqual(found.text, "")
        const missing = yield* inlet.call("HEAD", "/nope")
        assert.strictEqual(missing.status, 404)
        assert.strictEqual(missing.text, "")
      })
    )

    it.effect("ignore a body on GET", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const body = "{not json"
        const answer = yield* speak(
          inlet.url,
          head("GET /health HTTP/1.1", "Content-Type: application/json", `Content-Length: ${body.length}`) + body
        )
        assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
      })
    )
  })

  describe("with an id that is not a UUID", () => {
    it.effect("answer 404 like those with an unknown one", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domainId, key } = yield* inlet.inbox()
        for (const id of ["1", "undefined", `${uuid}0`, "%00", "..%2f..", "'%20OR%201=1--", "%F0%9F%9B%A9"]) {
          for (const path of ["", "/mx", "/events", "/events/stream", "/delivery-attempts", `/events/${uuid}`]) {
            assertError(yield* inlet.call("GET", `/api/domains/${id}${path}`, { key }), 404)
          }
          assertError(yield* inlet.call("POST", `/api/domains/${id}/verify`, { key }), 404)
          assertError(yield* inlet.call("DELETE", `/api/domains/${id}`, { key }), 404)
          const one = `/api/domains/${domainId}/events/${id}`
          assertError(yield* inlet.call("GET", one, { key }), 404)
          assertError(yield* inlet.call("GET", `${one}/raw`, { key }), 404)
          assertError(yield* inlet.call("GET", `${one}/attachments/0`, { key }), 404)
          assertError(yield* inlet.call("POST", `${one}/replay`, { key }), 404)
        }
      })
    )
  })

  describe("with a body", () => {
    it.effect("answer 400 when it is not JSON", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        for (const body of [
          "{",
          '{"name":',
          "name=ada",
          "\0",
          '{"name":"a"}}',
          "{'name':'a'}",
          '{"name":"a\nb"}',
          " "
        ]) {
          assertError(yield* inlet.call("POST", "/api/workspaces", { body }), 400)
        }
      })
    )

    it.effect("answer 400 to JSON of another form and name the field", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        for (const body of ["null", "[]", "5", '"name"', "true", "", "[".repeat(100_000) + "]".repeat(100_000)]) {
          assertError(yield* inlet.call("POST", "/api/workspaces", { body }), 400, /Expected/)
        }
        for (const body of [
          "{}",
          '{"name":1e999}',
          '{"name":{"__proto__":{}}}',
          `{"name":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
        ]) {
          assertError(yield* inlet.call("POST", "/api/workspaces", { body }), 400, /^name: Expected /)
        }
      })
    )

    it.effect("answer 400 to a word that is none of a few, and name all", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domainId, key } = yield* inlet.inbox()
        const answer = yield* inlet.call("GET", `/api/domains/${domainId}/events?order=up`, { key })
        assertError(answer, 400, /^order: Expected one of asc, desc$/)
      })
    )

    it.effect("answer 400 to a field that the route does not have, and name the fields that it has", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.inbox()
        const refused = (path: string, body: unknown, message: RegExp) =>
          Effect.map(inlet.call("POST", path, { key, body }), (answer) => assertError(answer, 400, message))
        yield* refused("/api/workspaces", '{"__proto__":{"name":"a"}}', /^__proto__: There is no such field/)
        yield* refused(
          "/api/workspaces/keys",
          { scope: "read", patern: "agent-*" },
          /^patern: There is no such field; this route has .*pattern/
        )
        yield* refused(
          "/api/workspaces",
          { name: "a", ["x".repeat(300)]: 1 },
          /^x{100}: There is no such field; this route has name$/
        )
        const fields = Array.from({ length: 10_000 }, (_, index) => `"f${index}":${index}`).join(",")
        yield* refused("/api/workspaces", `{"name":"a",${fields}}`, /^f0: There is no such field/)
      })
    )

    it.effect("answer 400 to a body that the route would ignore, and do nothing", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domainId, key } = yield* inlet.inbox()
        const event = `/api/domains/${domainId}/events/01890000-0000-7000-8000-000000000000`
        for (const path of ["/api/workspaces/rotate-key", "/api/workspaces/rotate-secret", `${event}/replay`]) {
          const field = yield* inlet.call("POST", path, { key, body: { dry_run: true } })
          assertError(field, 400, /^dry_run: There is no such field; this route takes no body$/)
          for (const body of ["not json", "[1]", `{"name":"${"x".repeat(1_000)}`]) {
            const other = yield* inlet.call("POST", path, { key, body })
            assertError(other, 400, /^The body: Expected none; this route takes no body$/)
          }
        }
        assertError(
          yield* inlet.call("DELETE", `/api/domains/${domainId}`, { key, body: { if: "unused" } }),
          400,
          /^if: There is no such field/
        )
        assert.strictEqual((yield* inlet.call("GET", `/api/domains/${domainId}`, { key })).status, 200)
      })
    )

    it.effect("have no body, or an empty object or null as clients send, where the route takes none", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.inbox()
        for (const [index, body] of [undefined, "", " ", "{}", " { } ", "null"].entries()) {
          for (const headers of [{}, { "idempotency-key": `key-${index}` }]) {
            const { status } = yield* inlet.call("POST", "/api/instant-inbox", { key, body, headers })
            assert.strictEqual(status, 200, body)
          }
        }
      })
    )

    it.effect("answer 400 when the name is not UTF-8", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const body = Buffer.concat([Buffer.from('{"name":"a'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
        const answer = yield* speak(
          inlet.url,
          head("POST /api/workspaces HTTP/1.1", "Content-Type: application/json", `Content-Length: ${body.length}`),
          body
        )
        assert.match(answer, /^HTTP\/1\.1 400 /)
        assert.match(answer, /\{"error":"name: Expected [^"]+"\}$/)
      })
    )

    it.effect("answer 400 to another content type", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        for (const type of [
          "application/x-www-form-urlencoded",
          "text/plain",
          "application/xml",
          "multipart/form-data",
          "x"
        ]) {
          const answer = yield* inlet.call("POST", "/api/workspaces", {
            body: '{"name":"a"}',
            headers: { "content-type": type }
          })
          assertError(answer, 400, /^Content-Type: Expected application\/json$/)
        }
        const charset = yield* inlet.call("POST", "/api/workspaces", {
          body: '{"name":"a"}',
          headers: { "content-type": "application/json; charset=utf-8" }
        })
        assert.strictEqual(charset.status, 201)
      })
    )

    it.effect("answer 400 to a compressed one, which nothing decodes, and store no such mail", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domain, domainId, key } = yield* inlet.inbox()
        const message = /^Content-Encoding: Expected none/
        for (const encoding of ["gzip", "br", "x-unknown", "identity, gzip"]) {
          const headers = { "content-encoding": encoding }
          assertError(yield* inlet.call("POST", "/api/workspaces", { body: { name: "a" }, headers }), 400, message)
          const mail = yield* inlet.call("POST", `/api/domains/${domainId}/ingest?recipient=a@${domain}&from=`, {
            key,
            body: gzipSync("Subject: a\r\n\r\nhello"),
            headers: { ...headers, "content-type": "message/rfc822" }
          })
          assertError(mail, 400, message)
        }
        assert.lengthOf((yield* inlet.call("GET", `/api/domains/${domainId}/events`, { key })).json.events, 0)
        const plain = { body: { name: "a" }, headers: { "content-encoding": "identity" } }
        assert.strictEqual((yield* inlet.call("POST", "/api/workspaces", plain)).status, 201)
      })
    )

    it.effect("need none if no field is required", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        const bare = yield* speak(
          inlet.url,
          head("POST /api/instant-inbox HTTP/1.1", `Authorization: Bearer ${key}`, "Content-Length: 0")
        )
        assert.match(bare, /^HTTP\/1\.1 201 /)
        assert.strictEqual((yield* inlet.call("POST", "/api/instant-inbox", { key, body: "{}" })).status, 200)
      })
    )

    it.effect("accept 256 KiB and answer 413 to one byte more", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const filled = (length: number) => {
          const body = '{"name":"a"}'
          return body + " ".repeat(length - body.length)
        }
        const fits = yield* inlet.call("POST", "/api/workspaces", { body: filled(256 * 1_024) })
        assert.strictEqual(fits.status, 201)
        const over = yield* inlet.call("POST", "/api/workspaces", { body: filled(256 * 1_024 + 1) })
        assertError(over, 413, /256 KiB/)
      })
    )

    it.effect("answer 400 without Host or with two, in the form of every error", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        for (const hosts of ["", "Host: a.example\r\nHost: b.example\r\n"]) {
          const answer = yield* speak(inlet.url, `GET /health HTTP/1.1\r\n${hosts}\r\n`)
          assert.match(answer, /^HTTP\/1\.1 400 /)
          assert.match(answer, /\r\nx-request-id: /i)
          assert.match(answer, /\{"error":"Host: Expected it once"\}$/)
        }
        assert.match(yield* speak(inlet.url, "GET /health HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 200 /)
      })
    )

    it.effect("answer 413 to an announced length before the body arrives", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const answer = yield* speak(
          inlet.url,
          head("POST /api/workspaces HTTP/1.1", "Content-Type: application/json", "Content-Length: 62914560")
        )
        assert.match(answer, /^HTTP\/1\.1 413 /)
        assert.match(answer, /\{"error":"The body is larger than 256 KiB"\}$/)
      })
    )

    it.effect("answer 413 to chunks beyond the limit", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`
        const answer = yield* speak(
          inlet.url,
          head("POST /api/workspaces HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked"),
          '1\r\n"\r\n',
          ...Array.from({ length: 64 }, () => chunk)
        )
        assert.match(answer, /^HTTP\/1\.1 413 /)
        assert.match(answer, /\{"error":"The body is larger than 256 KiB"\}/)
      })
    )

    it.effect("answer 401 rather than 400 without a key", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        assertError(yield* inlet.call("POST", "/api/domains", { body: "{" }), 401)
        assertError(yield* inlet.call("GET", "/api/domains/1"), 401)
      })
    )
  })

  describe("with hostile values", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
    const values = [
      "1e999",
      "-1",
      "9007199254740993",
      "true",
      "null",
      "{}",
      '{"__proto__":{"toString":1}}',
      '{"toString":null,"constructor":{"prototype":{}}}',
      deep,
      `{${Array.from({ length: 10_000 }, (_, index) => `"${index}":[]`).join(",")}}`,
      '"\\u0000"',
      '"\\ud800"',
      '"\\r\\nX-Injected: yes"',
      '"\\u202e\\u2066 gpj.exe"',
      `"${"x".repeat(200_000)}"`,
      '"\' OR 1=1; DROP TABLE domains --"',
      '"%00%ff%zz"',
      '"javascript:alert(1)"',
      '"//evil.example"'
    ]

    it.effect("in any field are refused without a 500", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domainId, key } = yield* inlet.inbox()
        const fields = [
          ["POST", "/api/workspaces", '"name"', ""],
          ["POST", "/api/domains", '"domain"', ""],
          ["PATCH", `/api/domains/${domainId}/delivery`, '"webhookUrl"', ""],
          ["POST", "/api/domains/purchase", '"domain"', ',"years":1'],
          ["POST", "/api/domains/purchase", '"years"', ',"domain":"a.com"'],
          ["POST", "/api/domains/purchase", '"registrar"', ',"domain":"a.com","years":1'],
          ["POST", "/api/domains/purchase", '"success_url"', ',"domain":"a.com","years":1']
        ] as const
        for (const [method, path, field, rest] of fields) {
          for (const value of values) {
            const answer = yield* inlet.call(method, path, { key, body: `{${field}:${value}${rest}}` })
            const what = `${method} ${path} ${field}: ${value.slice(0, 40)}`
            assert.isBelow(answer.status, 500, what)
            assert.isUndefined(answer.headers["x-injected"])
            if (answer.status >= 400) assertError(answer, answer.status)
          }
        }
        assert.strictEqual((yield* inlet.call("GET", "/api/domains", { key })).status, 200)
      })
    )

    it.effect("in any path or query are refused without a 500", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domainId, key } = yield* inlet.inbox()
        const odd = [
          "%",
          "%zz",
          "%00",
          "%ff%fe",
          "%c0%ae%c0%ae",
          "%ed%a0%80",
          "..%2f..%2fetc%2fpasswd",
          "'--",
          "%0d%0aX-Injected:%20yes"
        ]
        const targets = odd.flatMap((text) => [
          `/${text}`,
          `/api/domains/${text}`,
          `/api/domains/${domainId}/events/${text}/raw`,
          `/api/domains/${domainId}/events/${uuid}/attachments/${text}`,
          `/api/domains/orders/${text}`,
          `/admin/domains/${text}/disable`,
          ...["cursor", "limit", "recipient", "from", "since", "until", "delivery", "after", "wait", text].map(
            (name) => `/api/domains/${domainId}/events?${name}=${text}`
          ),
          `/api/domains/${domainId}/delivery-attempts?event_id=${text}&cursor=${text}`,
          `/api/domains/search?q=${text}&tlds=${text}`
        ])
        for (const target of targets) {
          const answer = yield* speak(
            inlet.url,
            head(`GET ${target} HTTP/1.1`, `Authorization: Bearer ${key}`, "Connection: close")
          )
          assert.match(answer, /^HTTP\/1\.1 [24]\d\d /, target)
          assert.notMatch(answer, /^x-injected/im, target)
        }
      })
    )
  })

  describe("with broken HTTP", () => {
    it.effect("answer 4xx and close the connection, and the next request is served", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const requests = [
          "MAIL FROM:<a@example.com>\r\n\r\n",
          head("GET /health HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked"),
          head("GET /health HTTP/1.1", "Content-Length: 5", "Content-Length: 6"),
          head("GET /health HTTP/1.1", "Transfer-Encoding: chunked, identity"),
          head("GET /health HTTP/1.1", `X-Flood: ${"x".repeat(100_000)}`),
          head(`GET /${"x".repeat(100_000)} HTTP/1.1`),
          head("GET /health HTTP/1.1", "Bad Header: x"),
          head("GET /health HTTP/1.1", ...Array.from({ length: 5_000 }, (_, index) => `X-${index}: y`)),
          head("BREW /health HTTP/1.1"),
          head("GET /health HTTP/9.9")
        ]
        for (const request of requests) {
          assert.match(yield* speak(inlet.url, request), /^HTTP\/1\.1 4\d\d /, request.slice(0, 60))
          assert.strictEqual((yield* inlet.call("GET", "/health")).status, 200)
        }
      })
    )
  })

  describe("with an X-Request-Id", () => {
    it.effect("echo a valid one", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        for (const id of ["a", "trace-1.2_3:4", uuid, "x".repeat(128)]) {
          const { headers } = yield* inlet.call("GET", "/health", { headers: { "x-request-id": id } })
          assert.strictEqual(headers["x-request-id"], id)
        }
      })
    )

    it.effect("replace an invalid one", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        for (const id of ["", "x".repeat(129), "two words", '<script>"', "a,b", "a;b=c", "\u00e4"]) {
          const { headers } = yield* inlet.call("GET", "/health", { headers: { "x-request-id": id } })
          assert.match(headers["x-request-id"] ?? "", /^[\da-f-]{36}$/, id)
        }
      })
    )

    it.effect("or without one, have a unique one on every answer", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domainId, key } = yield* inlet.inbox()
        const answers = [
          yield* inlet.call("GET", "/health"),
          yield* inlet.call("GET", "/docs"),
          yield* inlet.call("GET", "/metrics"),
          yield* inlet.call("GET", "/nope"),
          yield* inlet.call("GET", "/api/domains"),
          yield* inlet.call("GET", "/api/domains", { key }),
          yield* inlet.call("POST", "/api/domains", { key, body: "{" }),
          yield* inlet.call("POST", "/api/workspaces", { body: "x".repeat(300_000) }),
          yield* inlet.call("HEAD", `/api/domains/${domainId}/events/stream`, { key }),
          yield* inlet.call("DELETE", `/api/domains/${domainId}`, { key })
        ]
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [200, 200, 200, 404, 401, 200, 400, 413, 200, 204]
        )
        const ids = answers.map(({ headers }) => headers["x-request-id"] ?? "none")
        for (const id of ids) assert.match(id, /^[\da-f-]{36}$/)
        assert.strictEqual(new Set(ids).size, answers.length)
      })
    )
  })
})
