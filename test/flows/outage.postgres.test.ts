import { createHash } from "node:crypto"
import { request } from "node:http"
import { assert, describe, layer } from "@effect/vitest"
import { Array, Context, Deferred, Duration, Effect, Fiber, Layer, Redacted } from "effect"
import { Cluster } from "../../prove/Cluster.ts"
import type { Answer } from "../ApiCall.ts"
import * as DatabaseProxy from "../DatabaseProxy.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mailbox from "../Mailbox.ts"
import * as McpClient from "../mcp/McpClient.ts"
import * as Needs from "../Needs.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** A service behind a proxy to a PostgreSQL server of its own. */
class Outage extends Context.Service<
  Outage,
  {
    readonly cluster: Cluster["Service"]
    readonly proxy: Effect.Success<ReturnType<typeof DatabaseProxy.before>>
    readonly inlet: InletProcess.InletProcess
    readonly inbox: InletProcess.Inbox
    /** Runs a statement directly on the server. */
    run(statement: string): Effect.Effect<string>
  }
>()("inlet/test/flows/Outage") {
  static readonly layer = Layer.effect(
    Outage,
    Effect.gen(function* () {
      const cluster = yield* Cluster
      const receiver = yield* WebhookReceiver
      const run = (statement: string) => cluster.program("psql", "--dbname", "postgres", "--command", statement)
      yield* run("CREATE ROLE service LOGIN PASSWORD 'of-service'")
      yield* run("CREATE DATABASE service OWNER service")
      const server = new URL(Redacted.value(cluster.url))
      server.username = "service"
      server.password = "of-service"
      server.pathname = "/service"
      const proxy = yield* DatabaseProxy.before(server)

      const { inlet } = yield* InletProcess.spawned({
        ...(yield* InletProcess.installation),
        DATABASE_URL: proxy.url,
        ALLOW_PRIVATE_WEBHOOKS: "true",
        LOG_LEVEL: "warn"
      })
      yield* eventually(inlet.output, (printed) => printed.includes("does not answer yet"))
      yield* proxy.open
      yield* eventually(
        Effect.catchDefect(inlet.call("GET", "/ready"), () => Effect.succeed({ status: 0 })),
        ({ status }) => status === 200
      )
      return { cluster, proxy, inlet, inbox: yield* inlet.inbox(receiver.url), run }
    })
  ).pipe(Layer.provide(Cluster.layer), Layer.provideMerge(WebhookReceiver.layer))
}

const message = (id: string) => `Message-ID: <${id}@sender.example>\r\nSubject: ${id}\r\n\r\n`

const unknown = { event_id: "01890000-0000-7000-8000-000000000000", attempt: 1 }

/** The status of a leased delivery. */
const taken = { statusCode: 200, durationMs: 1 }

/** The first request of an MCP client. */
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
}

/** 503 with Retry-After in time. */
const unavailable = Effect.fnUntraced(function* (asked: Effect.Effect<Answer>, what: string) {
  const [time, { headers, json, status }] = yield* Effect.timed(asked)
  assert.strictEqual(status, 503, what)
  assert.match(json.error, /^The database /)
  assert.match(headers["retry-after"] ?? "", /^[1-9]\d*$/)
  assert.isBelow(Duration.toMillis(time), 15_000, what)
})

/** Checks that requests are refused in time, and that routes without a database answer at once. */
const refusesAll = Effect.gen(function* () {
  const { inbox, inlet } = yield* Outage
  const { address, domainId, key } = inbox
  const ask = (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown) =>
    unavailable(inlet.call(method, path, { key, body }), `${method} ${path}`)
  const mail = Effect.gen(function* () {
    const [time, reply] = yield* Effect.timed(Mailbox.deliver(inlet.smtpPort, address, message("refused")))
    // RCPT is answered 451, so DATA cannot follow.
    assert.match(reply, /^(451 4\.3\.0|503 5\.5\.1) /)
    assert.isBelow(Duration.toMillis(time), 15_000)
  })
  const times: Array<number> = []
  const healthy = Effect.gen(function* () {
    const [time, { status }] = yield* Effect.timed(inlet.call("GET", "/health"))
    assert.strictEqual(status, 200)
    times.push(Duration.toMillis(time))
    assert.isBelow(Duration.toMillis(time), 10_000)
    yield* Effect.sleep("100 millis")
  })
  const refused = Effect.all(
    [
      unavailable(inlet.call("GET", "/ready"), "/ready"),
      ask("POST", "/api/workspaces", { name: "late" }),
      ask("POST", "/api/domains", { domain: "late.example.com" }),
      ask("PATCH", `/api/domains/${domainId}/delivery`, { webhookUrl: null }),
      ask("DELETE", `/api/domains/${domainId}`),
      ask("GET", `/api/domains/${domainId}/events?wait=60`),
      ask("GET", `/api/domains/${domainId}/events/stream`),
      ask("POST", `/api/domains/${domainId}/deliveries/lease`, { wait: 60 }),
      ask("POST", `/api/domains/${domainId}/deliveries/settle`, { outcomes: [{ ...unknown, ...taken }] }),
      ask("POST", "/mcp", initialize),
      // More than there are connections, so that some wait.
      ...Array.makeBy(30, () => ask("GET", `/api/domains/${domainId}/events`)),
      mail
    ],
    { concurrency: "unbounded", discard: true }
  )
  yield* Effect.raceFirst(refused, Effect.forever(healthy))
  // Single answers are late on a busy machine. One that waited for the database would always be.
  assert.isBelow(Math.min(...times), 2_500)
})

/** An open event stream. */
const follow = Effect.gen(function* () {
  const { inbox, inlet } = yield* Outage
  const ended = yield* Deferred.make<void>()
  yield* Effect.callback<void>((resume) => {
    const url = `${inlet.url}/api/domains/${inbox.domainId}/events/stream`
    request(url, { agent: false, headers: { authorization: `Bearer ${inbox.key}` } }, (response) => {
      response.resume().on("error", () => {})
      response.on("close", () => Deferred.doneUnsafe(ended, Effect.void))
      resume(Effect.void)
    }).end()
  })
  return { ended: Effect.orDie(Effect.timeout(Deferred.await(ended), "10 seconds")) }
})

/** Checks that the service has recovered, with one mail from SMTP to the webhook. */
const serves = Effect.fnUntraced(function* (id: string) {
  const { inbox, inlet } = yield* Outage
  const receiver = yield* WebhookReceiver
  yield* eventually(inlet.call("GET", "/ready"), ({ status }) => status === 200)
  const accepted = Effect.gen(function* () {
    const session = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
    assert.match(session.replies.join(), /^250 /)
    assert.match(yield* Mailbox.data(session, message(id)), /^250 /)
  })
  yield* Effect.scoped(accepted)
  yield* eventually(
    Effect.map(receiver.all, (requests) => requests.filter(({ body }) => `${body}`.includes(`<${id}@`))),
    (requests) => requests.length === 1
  )
  // The webhook's answer is recorded after it arrived.
  const { json } = yield* eventually(
    inlet.call("GET", "/api/domains", { key: inbox.key }),
    ({ json }) => json.domains[0]?.status === "live"
  )
  assert.deepStrictEqual(
    json.domains.map(({ id }: Record<string, unknown>) => id),
    [inbox.domainId]
  )
})

describe("A PostgreSQL of our own", Needs.options(Needs.cluster), () => {
  layer(Outage.layer, { excludeTestServices: true })("A running service", (it) => {
    it.effect("starts to serve once a PostgreSQL started after it answers", () => serves("first"))

    it.effect("answers 503 and 451 in time while PostgreSQL is suspended, and recovers", () =>
      Effect.gen(function* () {
        const { cluster } = yield* Outage
        yield* Effect.scoped(Effect.andThen(cluster.frozen, refusesAll))
        yield* serves("frozen")
      })
    )

    it.effect("ends streams and answers 503 and 451 while PostgreSQL is stopped, and recovers", () =>
      Effect.gen(function* () {
        const { proxy } = yield* Outage
        const stream = yield* follow
        yield* proxy.turn("cut")
        yield* stream.ended
        yield* refusesAll
        yield* proxy.turn("pass")
        yield* serves("gone")
      })
    )

    it.effect("makes the event of a mail that is parsed meanwhile as soon as PostgreSQL is back", () =>
      Effect.gen(function* () {
        const { inbox, inlet, proxy } = yield* Outage
        const receiver = yield* WebhookReceiver
        // A parser thread takes half a second for it.
        const recipients = `To: ${"a@b.example,\r\n ".repeat(60_000)}a@b.example\r\n`
        const reply = yield* Mailbox.deliver(inlet.smtpPort, inbox.address, `${recipients}${message("meanwhile")}`)
        assert.match(reply, /^250 /)
        yield* proxy.turn("cut")
        yield* Effect.sleep("3 seconds")
        yield* proxy.turn("pass")
        // Long before the lease of the message ends.
        yield* eventually(
          receiver.all,
          (requests) => requests.some(({ body }) => `${body}`.includes("<meanwhile@")),
          "30 seconds"
        )
      })
    )

    it.effect("lets an agent wait, and accepts the outcome of an earlier lease, once PostgreSQL is back", () =>
      Effect.gen(function* () {
        const { inlet, proxy } = yield* Outage
        const { address, domainId, key } = yield* inlet.inbox("http://127.0.0.1:9/")
        const path = `/api/domains/${domainId}`
        const ask = (method: "POST" | "PATCH", route: string, body: unknown) =>
          inlet.call(method, `${path}/${route}`, { key, body })
        yield* ask("PATCH", "delivery", { webhookUrl: null })
        yield* ask("PATCH", "delivery", { pull: true })
        const agent = yield* McpClient.one(inlet.url, key)
        yield* Mailbox.deliver(inlet.smtpPort, address, message("taken"))
        const { json } = yield* ask("POST", "deliveries/lease", { wait: 20 })
        const outcome = { event_id: json.deliveries[0].event_id, attempt: 1, ...taken }
        const settle = ask("POST", "deliveries/settle", { outcomes: [outcome] })

        const waiting = yield* Effect.forkChild(ask("POST", "deliveries/lease", { wait: 60 }))
        const asking = yield* Effect.forkChild(agent.call("wait_for_mail", { after: "latest", seconds: 55 }))
        yield* Effect.sleep("1 second")
        yield* proxy.turn("cut")
        assert.strictEqual((yield* Fiber.join(waiting)).status, 503)
        const told = yield* Fiber.join(asking)
        assert.deepStrictEqual([told.isError, told.text], [true, "The database is out of reach. Retry in 5 s"])
        yield* unavailable(settle, "settle")
        yield* proxy.turn("pass")
        yield* eventually(inlet.call("GET", "/ready"), ({ status }) => status === 200)
        assert.strictEqual((yield* settle).json.outcomes[0].delivery.status, "delivered")
        assert.strictEqual((yield* agent.call("list_mail")).json.mails[0].subject, "taken")
      }).pipe(Effect.scoped)
    )

    it.effect("answers 503 in time while every statement is slow", () =>
      Effect.gen(function* () {
        const { inbox, inlet, proxy } = yield* Outage
        yield* proxy.turn("slow")
        const create = inlet.call("POST", "/api/domains", { key: inbox.key, body: { domain: "late.example.com" } })
        yield* unavailable(create, "slow")
        yield* proxy.turn("pass")
        yield* serves("slow")
      })
    )

    it.effect("answers 503 and 451 while PostgreSQL has no free connection, and recovers", () =>
      Effect.gen(function* () {
        const { run } = yield* Outage
        yield* run("ALTER ROLE service CONNECTION LIMIT 0")
        yield* run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'service'")
        yield* refusesAll
        yield* run("ALTER ROLE service CONNECTION LIMIT -1")
        yield* serves("connected")
      })
    )

    it.effect("survives a crash of PostgreSQL under load without a lost mail", () =>
      Effect.gen(function* () {
        const { cluster, inbox, inlet } = yield* Outage
        const accepted: Array<string> = []
        const sender = (name: string) =>
          Effect.forEach(
            Array.range(1, 60),
            Effect.fnUntraced(function* (number) {
              const reply = yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message(`${name}-${number}`))
              assert.match(reply, /^(250|451|503) /)
              if (reply.startsWith("250"))
                accepted.push(
                  createHash("sha256")
                    .update(message(`${name}-${number}`))
                    .digest("hex")
                )
            }),
            { discard: true }
          )
        const load = yield* Effect.forkChild(
          Effect.forEach(["a", "b", "c", "d"], sender, { concurrency: "unbounded", discard: true })
        )
        yield* eventually(
          Effect.sync(() => accepted.length),
          (count) => count > 20
        )
        yield* cluster.crash
        yield* Fiber.join(load)
        yield* serves("crashed")
        const kept = yield* cluster.program(
          "psql",
          ...["--dbname", "service", "--command", "SELECT encode(sha256, 'hex') FROM inbound_emails"]
        )
        assert.deepStrictEqual(
          accepted.filter((digest) => !kept.includes(digest)),
          []
        )
      })
    )
  })
})
