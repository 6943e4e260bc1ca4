import { createServer, type IncomingMessage } from "node:http"
import { createServer as createHttpsServer } from "node:https"
import { TLSSocket } from "node:tls"
import { assert, describe, layer } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { generate } from "selfsigned"
import { Egress } from "../../src/delivery/Egress.ts"
import * as Platform from "../../src/process/Platform.ts"
import * as Resolver from "../../src/providers/dns/Resolver.ts"
import { DnsServer } from "../DnsServer.ts"
import { FakeInternet, type KeyPair, listening, raw } from "./FakeInternet.ts"
import * as ForbiddenUrls from "./ForbiddenUrls.ts"

const open = "93.184.215.14"
const open6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
const closed = "10.77.0.1"

const egressWith = (env: Record<string, string> = {}) =>
  Egress.layer.pipe(
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromEnv({ env: { ALLOW_PRIVATE_WEBHOOKS: "false", WEBHOOK_TIMEOUT: "30s", ...env } })
      )
    )
  )

const settings = (env?: Record<string, string>) => egressWith(env).pipe(Layer.provideMerge(FakeInternet.layer))

const check = (url: string) => Effect.flip(Egress.use((egress) => egress.check(url)))
/** The answer to a request, or the reason for its failure. */
const request = (url: string) =>
  Egress.use((egress) =>
    Effect.mapError(egress.send({ url, headers: { "X-Test": "1" }, body: Buffer.from("{}") }), ({ message }) => message)
  )
const failed = (url: string) => Effect.flip(request(url))

/** A server that answers 200 and records its requests. It keeps connections open or closes each. */
const web = Effect.fnUntraced(function* (connection: "keep-alive" | "close" = "close") {
  const heard: Array<IncomingMessage> = []
  const server = createServer((request, response) => {
    heard.push(request)
    request.resume().once("end", () => response.writeHead(200, { connection }).end("ok"))
  })
  return { ...(yield* listening(server)), heard }
})

describe("Egress", () => {
  layer(settings(), { excludeTestServices: true })("with public addresses only", (it) => {
    it.effect("refuses every spelling of a private address without a connection", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        for (const [typed, address] of ForbiddenUrls.literals) {
          assert.strictEqual((yield* check(typed)).message, `${address} is not a public address`, typed)
          assert.strictEqual(yield* failed(typed), `${address} is not a public address`, typed)
        }
        assert.deepStrictEqual(yield* internet.dialed, [])
      })
    )

    it.effect("refuses a name with a private address without naming the address", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        const before = yield* internet.dialed
        for (const [name, ...addresses] of [
          ["alone.example", closed],
          ["first.example", closed, open],
          ["last.example", open, open6, closed],
          ["mapped.example", open, "::ffff:10.77.0.1"],
          ["six.example", open, "fd00:ec2::254"],
          ["metadata.example", "169.254.169.254"],
          ["127.0.0.1.wildcard.example", "127.0.0.1"]
        ] as const) {
          yield* internet.publish(name, addresses)
          const reason = `what ${name} resolves to is not a public address`
          const refusal = yield* check(`http://${name}:8080/hook`)
          assert.deepInclude(refusal, { reason: "Forbidden", message: reason })
          assert.strictEqual(yield* failed(`http://${name}:8080/hook`), reason)
        }
        assert.deepStrictEqual(yield* internet.dialed, before)
      })
    )

    it.effect("connects to the checked address and sends the Host of the URL", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        const { heard, port } = yield* web()
        yield* internet.publish("hooks.example", [open])
        yield* internet.place(open, port)
        for (const [url, dialed, host] of [
          ["http://hooks.example/hook?a=b", `${open}:80`, "hooks.example"],
          ["http://HOOKS.example:8080/hook?a=b", `${open}:8080`, "hooks.example:8080"],
          [`http://${open}/hook?a=b`, `${open}:80`, open]
        ] as const) {
          assert.deepStrictEqual(yield* request(url), { statusCode: 200, body: "ok", retryAfter: null, location: null })
          assert.strictEqual((yield* internet.dialed).at(-1), dialed)
          const last = heard.at(-1)
          assert.deepStrictEqual([last?.headers.host, last?.url, last?.method], [host, "/hook?a=b", "POST"])
        }
      })
    )

    it.effect("reports a name without addresses and a failed lookup", () =>
      Effect.gen(function* () {
        assert.deepInclude(yield* check("https://nowhere.example/"), {
          reason: "NoAddress",
          message: "nowhere.example does not resolve"
        })
        assert.strictEqual(yield* failed("https://nowhere.example/"), "nowhere.example does not resolve")
        assert.strictEqual(yield* failed("https://a..example/"), "a..example does not resolve")
      })
    )

    it.effect("tries the next address after a refusal, and reports when all refuse", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        const { port } = yield* web()
        yield* internet.place("198.41.0.6", "refuses")
        yield* internet.place("198.41.0.7", "refuses")
        yield* internet.place(open6, port)
        yield* internet.publish("many.example", ["198.41.0.6", "198.41.0.7", open6])
        assert.strictEqual((yield* request("http://many.example/")).statusCode, 200)
        yield* internet.publish("nobody.example", ["198.41.0.6", "198.41.0.7"])
        assert.strictEqual(yield* failed("http://nobody.example/"), "connection refused")
      })
    )

    it.effect("verifies the certificate against the name, not the address", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        const names: Array<unknown> = []
        const secure = Effect.fnUntraced(function* (name: string, pair: KeyPair, address: string) {
          const { port } = yield* listening(
            createHttpsServer(pair, ({ headers, socket }, response) => {
              names.push([headers.host, socket instanceof TLSSocket ? socket.servername : undefined])
              response.end("ok")
            })
          )
          yield* internet.publish(name, [address])
          yield* internet.place(address, port)
        })
        yield* secure("good.example", yield* internet.certify("good.example"), "198.41.1.1")
        yield* secure("wrong.example", yield* internet.certify("good.example"), "198.41.1.2")
        yield* secure("expired.example", yield* internet.certify("expired.example", -1), "198.41.1.3")
        const alone = yield* Effect.promise(() =>
          generate([{ name: "commonName", value: "self.example" }], { keyType: "ec", algorithm: "sha256" })
        )
        yield* secure("self.example", { key: alone.private, cert: alone.cert }, "198.41.1.4")

        const unknown = yield* Effect.promise(() =>
          generate([{ name: "commonName", value: "unknown.example" }], {
            keyType: "ec",
            algorithm: "sha256",
            ca: { key: alone.private, cert: alone.cert }
          })
        )
        yield* secure("unknown.example", { key: unknown.private, cert: unknown.cert }, "198.41.1.5")

        assert.strictEqual((yield* request("https://good.example:8443/")).statusCode, 200)
        assert.deepStrictEqual(names, [["good.example:8443", "good.example"]])
        assert.deepStrictEqual((yield* internet.dialed).at(-1), "198.41.1.1:8443")
        for (const [url, reason] of [
          ["https://wrong.example/", "the certificate is for another name"],
          ["https://expired.example/", "the certificate has expired"],
          ["https://self.example/", "the certificate is self-signed"],
          ["https://unknown.example/", "the certificate is from an authority that is not known"],
          ["https://198.41.1.1/", "the certificate is for another name"]
        ] as const) {
          assert.strictEqual(yield* failed(url), reason)
        }
        assert.lengthOf(names, 1)
      })
    )
  })

  layer(settings({ WEBHOOK_TIMEOUT: "3s" }), { excludeTestServices: true })("with a timeout of 3 s", (it) => {
    it.effect("times out in DNS, connection and TLS handshake", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        yield* internet.publish("mute.example", "silence")
        yield* internet.publish("hole.example", ["198.41.0.4"])
        yield* internet.place("198.41.0.4", "is silent")
        const { port, sockets } = yield* raw(() => {})
        yield* internet.publish("no-tls.example", ["198.41.0.5"])
        yield* internet.place("198.41.0.5", port)
        const [took, reasons] = yield* Effect.timed(
          Effect.all(
            [failed("http://mute.example/"), failed("http://hole.example/"), failed("https://no-tls.example/")],
            {
              concurrency: "unbounded"
            }
          )
        )
        assert.deepStrictEqual(reasons, Array(3).fill("no answer within 3 s"))
        assert.isBelow(Duration.toMillis(took), 15_000)
        assert.lengthOf(sockets, 1)
      })
    )
  })

  layer(settings())("after a DNS change", (it) => {
    it.effect("resolves the name again for every new connection", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        const { heard, port } = yield* web("close")
        yield* internet.place(open, port)
        yield* internet.place(closed, port)
        const url = "http://rebinding.example/"
        yield* internet.publish("rebinding.example", [open])
        yield* Egress.use((egress) => egress.check(url))

        yield* internet.publish("rebinding.example", [closed])
        const reason = `what rebinding.example resolves to is not a public address`
        assert.strictEqual(yield* failed(url), reason)
        yield* TestClock.adjust("10 seconds")
        yield* internet.publish("rebinding.example", [open])
        assert.strictEqual((yield* request(url)).statusCode, 200)
        yield* TestClock.adjust("10 seconds")
        yield* internet.publish("rebinding.example", [open, closed])
        assert.strictEqual(yield* failed(url), reason)
        assert.strictEqual((yield* check(url)).message, reason)
        assert.deepStrictEqual(yield* internet.dialed, [`${open}:80`])
        assert.lengthOf(heard, 1)
      })
    )

    it.effect("resolves the name once for each connection", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        const { port } = yield* web("close")
        yield* internet.place(open, port)
        yield* internet.publish("flipping.example", [open], [closed])
        assert.strictEqual((yield* request("http://flipping.example/")).statusCode, 200)
        assert.strictEqual(yield* internet.asked("flipping.example"), 1)
        assert.strictEqual((yield* internet.dialed).at(-1), `${open}:80`)
      })
    )

    it.effect("resolves again after 5 s, but not for an open connection", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        const closing = yield* web("close")
        const keeping = yield* web("keep-alive")
        yield* internet.place("198.41.2.1", closing.port)
        yield* internet.place("198.41.2.2", keeping.port)
        yield* internet.publish("closing.example", ["198.41.2.1"])
        yield* internet.publish("keeping.example", ["198.41.2.2"])
        const both = Effect.all([request("http://closing.example/"), request("http://keeping.example/")])
        yield* Effect.replicateEffect(both, 5)
        assert.strictEqual(yield* internet.asked("closing.example"), 1)
        yield* TestClock.adjust("6 seconds")
        yield* Effect.replicateEffect(both, 5)
        assert.strictEqual(yield* internet.asked("closing.example"), 2)
        assert.isAtMost(keeping.sockets.length, 2)
        assert.lengthOf(keeping.heard, 10)
        assert.lengthOf(closing.sockets, 10)
      })
    )
  })

  layer(settings({ WEBHOOK_ALLOW: "10.77.0.0/24", WEBHOOK_DENY: "10.77.0.0/16, 198.41.3.0/24" }), {
    excludeTestServices: true
  })("with allow and deny lists", (it) => {
    it.effect("connects to an allowed address that is private or denied", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        const { port } = yield* web()
        yield* internet.place(closed, port)
        yield* internet.publish("inside.example", [closed])
        for (const url of ["http://inside.example/", `http://${closed}/`]) {
          yield* Egress.use((egress) => egress.check(url))
          assert.strictEqual((yield* request(url)).statusCode, 200)
        }
      })
    )

    it.effect("refuses a denied public address with its reason", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        const before = yield* internet.dialed
        yield* internet.publish("denied.example", [open, "198.41.3.9"])
        assert.strictEqual(
          yield* failed("http://denied.example/"),
          "what denied.example resolves to is a denied address"
        )
        assert.strictEqual(yield* failed("http://198.41.3.9/"), "198.41.3.9 is a denied address")
        assert.strictEqual(yield* failed("http://10.77.1.1/"), "10.77.1.1 is a denied address")
        assert.strictEqual(yield* failed("http://10.78.0.1/"), "10.78.0.1 is not a public address")
        assert.deepStrictEqual(yield* internet.dialed, before)
      })
    )
  })

  layer(settings(), { excludeTestServices: true })("with one silent address", (it) => {
    it.effect("tries the next address after 1 s", () =>
      Effect.gen(function* () {
        const internet = yield* FakeInternet
        const mute = yield* raw(() => {})
        const answering = yield* listening(
          createHttpsServer(yield* internet.certify("two.example"), (_request, response) => void response.end("ok"))
        )
        yield* internet.place("198.41.4.1", mute.port)
        yield* internet.place("198.41.4.2", answering.port)
        yield* internet.publish("two.example", ["198.41.4.1", "198.41.4.2"])
        const [took, answer] = yield* Effect.timed(request("https://two.example/"))
        assert.strictEqual(answer.statusCode, 200)
        assert.isAtLeast(Duration.toMillis(took), 990)
        assert.isBelow(Duration.toMillis(took), 15_000)
        assert.deepStrictEqual(yield* internet.dialed, ["198.41.4.1:443", "198.41.4.2:443"])
      })
    )
  })

  layer(settings({ ALLOW_PRIVATE_WEBHOOKS: "true", WEBHOOK_DENY: "169.254.169.254" }), { excludeTestServices: true })(
    "with private addresses allowed",
    (it) => {
      it.effect("refuses only denied addresses, in every spelling", () =>
        Effect.gen(function* () {
          const internet = yield* FakeInternet
          const { port } = yield* web()
          yield* internet.place("127.0.0.1", port)
          yield* internet.publish("localhost", ["127.0.0.1"])
          assert.strictEqual((yield* request("http://localhost:4000/")).statusCode, 200)
          const before = yield* internet.dialed
          for (const host of [
            "169.254.169.254",
            "[::ffff:169.254.169.254]",
            "[64:ff9b::169.254.169.254]",
            "2852039166"
          ]) {
            assert.match(yield* failed(`http://${host}/`), /^\S+ is a denied address$/)
          }
          assert.deepStrictEqual(yield* internet.dialed, before)
        })
      )
    }
  )
})

const realNames = Layer.unwrap(
  Effect.map(DnsServer, ({ server }) =>
    egressWith().pipe(
      Layer.provideMerge(Resolver.layer),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { DNS_SERVERS: server } })))
    )
  )
).pipe(Layer.provideMerge(DnsServer.layer), Layer.provide(Platform.layer))

layer(realNames, { excludeTestServices: true })("Egress over a name server", (it) => {
  it.effect("finds a private address behind a CNAME and in the AAAA record beside a public A", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      yield* dns.answer("A", "localhost", { address: "127.0.0.1" })
      yield* dns.answer("A", "alias.example", { alias: "localhost" })
      yield* dns.answer("A", "inside.example", { address: closed })
      yield* dns.answer("A", "long.example", { alias: "longer.example" })
      yield* dns.answer("A", "longer.example", { alias: "inside.example" })
      yield* dns.answer("A", "both.example", { address: open })
      yield* dns.answer("AAAA", "both.example", { address: "::1" })
      for (const name of ["alias.example", "long.example", "both.example"] as const) {
        const reason = `what ${name} resolves to is not a public address`
        assert.strictEqual((yield* check(`https://${name}/`)).message, reason)
        assert.strictEqual(yield* failed(`https://${name}/`), reason)
      }
    })
  )

  it.effect("resolves localhost without DNS", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      yield* dns.answer("A", "sub.localhost", { address: open })
      for (const [typed, host] of ForbiddenUrls.names) {
        const reason = `what ${host} resolves to is not a public address`
        assert.strictEqual((yield* check(typed)).message, reason, typed)
        assert.strictEqual(yield* failed(typed), reason, typed)
      }
      assert.strictEqual(yield* dns.asked("A", "sub.localhost"), 0)
    })
  )

  it.effect("distinguishes a name without addresses from a failing name server", () =>
    Effect.gen(function* () {
      const dns = yield* DnsServer
      assert.deepInclude(yield* check("https://unknown.example/"), {
        reason: "NoAddress",
        message: "unknown.example does not resolve"
      })
      yield* dns.answer("A", "broken.example", "SERVFAIL")
      assert.deepInclude(yield* check("https://broken.example/"), {
        reason: "NoDns",
        message: "DNS did not answer for broken.example (ServerFailure)"
      })
    })
  )
})
