import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { createServer, Socket } from "node:net"
import { TLSSocket } from "node:tls"
import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Duration, Effect, Layer, Predicate } from "effect"
import { MailHost, MailPort } from "../../src/health/MailHost.ts"
import * as MailHostChecks from "../../src/health/MailHostChecks.ts"
import * as SmtpProbe from "../../src/health/SmtpProbe.ts"
import { selfSigned } from "../../src/smtp/SelfSigned.ts"
import * as FakeDns from "../../src/testing/FakeDns.ts"
import * as Ports from "../Ports.ts"

const production = {
  NODE_ENV: "production",
  DATABASE_URL: "postgres://127.0.0.1:1/inlet",
  SECRETS_KEY: Buffer.alloc(32).toString("base64"),
  SERVICE_PUBLIC_URL: "https://inlet.example.com",
  PLATFORM_DOMAIN: "example.com"
}

/** A server on a loopback port, and the number of its connections. */
const server = Effect.fnUntraced(function* (serve: (socket: Socket) => void) {
  const port = yield* Ports.free
  const seen = { connections: 0 }
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const listening = createServer((socket) => {
        seen.connections++
        socket.on("error", () => {})
        serve(socket)
      })
      listening.listen(port, "127.0.0.1", () => resume(Effect.succeed(listening)))
    }),
    (listening) => Effect.sync(() => listening.close())
  )
  return { port, seen }
})

/** A mail server whose certificate is for `host`, made some days ago. It ends after a year. */
const mailServer = (host: string, daysAgo: number) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const pair = selfSigned(host, now - daysAgo * 86_400_000)
    return server((socket) => {
      socket.write("220 mx.example.com ESMTP Inlet\r\n")
      socket.on("data", (bytes) => {
        if (bytes.toString().startsWith("EHLO"))
          socket.write("250-mx.example.com\r\n250-PIPELINING\r\n250 STARTTLS\r\n")
        if (!bytes.toString().startsWith("STARTTLS")) return
        socket.removeAllListeners("data")
        socket.write("220 Ready\r\n")
        new TLSSocket(socket, { isServer: true, ...pair }).on("error", () => {})
      })
    })
  })

const world = (
  port: number,
  records: Readonly<Record<string, FakeDns.Records>>,
  env: Readonly<Record<string, string>>
) =>
  MailHost.layer.pipe(
    Layer.provide(FakeDns.make(records).layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
    Layer.provide(Layer.succeed(MailPort, port))
  )

/** The checks with a mail server at this port of the mail host. */
const checked = (
  port: number,
  records: Readonly<Record<string, FakeDns.Records>> = { "mx.example.com": { addresses: ["127.0.0.1"] } },
  env: Readonly<Record<string, string>> = production,
  isRelayed = false
) =>
  Effect.gen(function* () {
    const seen = yield* MailHost.use(({ look }) => look)
    return MailHostChecks.of(seen, yield* Clock.currentTimeMillis, isRelayed).map(
      ({ check, message, remedy, status }) => `${status} ${check}: ${message}${remedy === null ? "" : ` → ${remedy}`}`
    )
  }).pipe(Effect.provide(world(port, records, env)))

describe("The checks of the mail host", () => {
  it.live("accept its greeting, STARTTLS and certificate, and say that they see it from inside", () =>
    Effect.gen(function* () {
      const { port } = yield* mailServer("mx.example.com", 1)
      assert.deepStrictEqual(yield* checked(port), [
        `ok port25: The mail server mx.example.com answers on port ${port}, seen from this service. It cannot see a firewall in front of it. From another network: nc -v mx.example.com ${port}`,
        "ok starttls: The mail server mx.example.com offers STARTTLS, so senders encrypt mail",
        "ok certificate: The certificate of mx.example.com is self-signed. Senders encrypt, but cannot check that the server is yours"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("only warn of a closed port where a relay with a key needs none", () =>
    Effect.gen(function* () {
      const closed = [yield* Ports.free, { "mx.example.com": { addresses: ["127.0.0.1"] } }, production] as const
      assert.match((yield* checked(...closed))[0] ?? "", /^error port25: /)
      assert.match(
        (yield* checked(...closed, true))[0] ?? "",
        /^warning port25: .* A relay with an ingest key needs no port 25 → /
      )
    })
  )

  it.live("name a certificate for another host, one that ends within 14 days, and one that has ended", () =>
    Effect.gen(function* () {
      const certificate = Effect.fnUntraced(function* (host: string, daysAgo: number) {
        const { port } = yield* mailServer(host, daysAgo)
        return (yield* checked(port))[2] ?? ""
      })
      assert.match(
        yield* certificate("mx.other.example", 1),
        /^warning certificate: The certificate is for .*mx\.other\.example, and not for mx\.example\.com/
      )
      assert.match(
        yield* certificate("mx.example.com", 360),
        /^warning certificate: .*ends on \d{4}-\d\d-\d\d, in [45] days → .*renew/
      )
      assert.match(
        yield* certificate("mx.example.com", 400),
        /^error certificate: .*ended on \d{4}-\d\d-\d\d → .*renew/
      )
    }).pipe(Effect.scoped)
  )

  it.live("name a closed port, another server, a server without STARTTLS, and failing TLS", () =>
    Effect.gen(function* () {
      assert.match(
        (yield* checked(yield* Ports.free)).join(),
        /^error port25: The mail server mx\.example\.com does not answer on port \d+ \(127\.0\.0\.1: connect ECONNREFUSED.*\) → This is for the operator of the service: start it with the role smtp, and open port \d+\. Some networks/
      )
      const ssh = yield* server((socket) => void socket.end("SSH-2.0-x\u0007\r\n"))
      assert.match((yield* checked(ssh.port)).join(), /^error port25: .*it greets with "SSH-2\.0-x\uFFFD"/)
      const other = yield* server((socket) => void socket.end("220 mx.other.example ESMTP\r\n"))
      assert.match(
        (yield* checked(other.port)).join(),
        /^error port25: .*it greets with "220 mx\.other\.example ESMTP"/
      )
      const answering = (ehlo: string, starttls: string) =>
        server((socket) => {
          socket.write("220 mx.example.com ESMTP\r\n")
          socket.on("data", (bytes) => void socket.write(bytes.toString().startsWith("EHLO") ? ehlo : starttls))
        })
      const plain = yield* answering("250 mx.example.com\r\n", "")
      assert.match((yield* checked(plain.port))[1] ?? "", /^warning starttls: .*does not offer STARTTLS/)
      const broken = yield* answering("250 STARTTLS\r\n", "454 no\r\n")
      assert.match(
        (yield* checked(broken.port))[1] ?? "",
        /^error starttls: .*it fails \(it answers "454 no" to STARTTLS\)/
      )
      const endless = yield* server((socket) => void socket.write("220-".padEnd(20_000, "x")))
      assert.match((yield* checked(endless.port)).join(), /^error port25: .*its reply does not end/)
    }).pipe(Effect.scoped)
  )

  it.live("name a mail host without an address, and an address at which nothing answers", () =>
    Effect.gen(function* () {
      assert.match(
        (yield* checked(1, {})).join(),
        /^error port25: The mail host mx\.example\.com has no address in DNS \(NotFound\) → .*publish an A record/
      )
      const { port } = yield* mailServer("mx.example.com", 1)
      const addresses = ["127.0.0.1", "127.0.0.9"]
      const [first = "", second] = yield* checked(port, { "mx.example.com": { addresses } })
      assert.match(first, /^warning port25: .*at only some of its addresses \(127\.0\.0\.9: connect ECONNREFUSED/)
      assert.match(second ?? "", /^ok starttls/)
    }).pipe(Effect.scoped)
  )

  it.live("name GET /admin/status for a late certificate that Inlet orders, and no file", () =>
    Effect.gen(function* () {
      const { port } = yield* mailServer("mx.example.com", 360)
      const ordering = { ...production, ACME_DIRECTORY: "https://acme.example/directory", ACME_TERMS_AGREED: "true" }
      const [, , line = ""] = yield* checked(port, undefined, ordering)
      assert.match(line, /^warning certificate: .* → .*GET \/admin\/status/)
      assert.notInclude(line, "SMTP_TLS_CERT")
    }).pipe(Effect.scoped)
  )

  it("warn of a certificate of a week only in its last sixth", () => {
    const day = 86_400_000
    const certificate = {
      isForHost: true,
      names: "mx.example.com",
      isSelfSigned: false,
      validFrom: 0,
      validTo: 7 * day
    }
    const talk = { greeting: "220 mx.example.com ESMTP", offersStartTls: true, certificate }
    const seen = {
      host: "mx.example.com",
      port: 25,
      isNearby: false,
      isOrdered: true,
      problem: null,
      answers: [{ address: "192.0.2.1", talk }]
    }
    const statuses = [1, 5, 6].map((days) => MailHostChecks.of(seen, days * day, false).at(-1)?.status)
    assert.deepStrictEqual(statuses, ["ok", "ok", "warning"])
  })

  it.live("have no result if this machine does not reach the mail host", () =>
    Effect.gen(function* () {
      // An address of documentation, to which no network has a route.
      const [first = "", ...others] = yield* checked(25, { "mx.example.com": { addresses: ["2001:db8::1"] } })
      assert.match(
        first,
        /^unknown port25: This service cannot reach the mail server mx\.example\.com on port 25 \(2001:db8::1: .*\)\. Senders may reach it → Many clouds block outgoing connections to port 25, and some networks .*nc -v mx\.example\.com 25/
      )
      assert.deepStrictEqual(others, [])
    })
  )

  it.live("connect once for many requests", () =>
    Effect.gen(function* () {
      const { port, seen } = yield* mailServer("mx.example.com", 1)
      const looks = MailHost.use(({ look }) =>
        Effect.andThen(
          Effect.all(
            Array.from({ length: 100 }, () => look),
            { concurrency: "unbounded" }
          ),
          look
        )
      )
      yield* Effect.provide(looks, world(port, { "mx.example.com": { addresses: ["127.0.0.1"] } }, production))
      assert.strictEqual(seen.connections, 1)
    }).pipe(Effect.scoped)
  )
})

/** The client sockets that an effect makes. */
const socketsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const sockets: Array<Socket> = []
    const heard = (about: unknown) => {
      if (Predicate.hasProperty(about, "socket") && about.socket instanceof Socket) sockets.push(about.socket)
    }
    subscribe("net.client.socket", heard)
    return effect.pipe(Effect.as(sockets), Effect.ensuring(Effect.sync(() => unsubscribe("net.client.socket", heard))))
  })

describe("The dialog with a mail server", () => {
  it.live("leaves no listener on its socket for a reply that has come", () =>
    Effect.gen(function* () {
      const { port } = yield* mailServer("mx.example.com", 1)
      const about = { address: "127.0.0.1", host: "mx.example.com", patience: Duration.seconds(30), port }
      const sockets = yield* socketsOf(SmtpProbe.talk(about))
      assert.deepStrictEqual(
        sockets.map((socket) => socket.listenerCount("data")),
        [0]
      )
    }).pipe(Effect.scoped)
  )
})
