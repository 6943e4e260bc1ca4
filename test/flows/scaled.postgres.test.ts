import { createServer, type IncomingHttpHeaders } from "node:http"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Array, Context, Effect, FileSystem, Layer, Redacted, Ref, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import { call } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Haproxy from "../Haproxy.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Needs from "../Needs.ts"
import * as Ports from "../Ports.ts"
import { S3Server } from "../simulators/S3Server.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const message = (number: number) =>
  `Message-ID: <${number}@sender.example>\r\nSubject: mail ${number}\r\n\r\nThrough a balancer.\r\n`

/** Two processes on one PostgreSQL and one bucket, behind HAProxy as in `docker compose --profile scaled`. */
const world = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const bucket = yield* S3Server.make
  const receiver = yield* WebhookReceiver.make
  const { DATABASE_URL = "" } = yield* InletProcess.installation
  const start = Effect.gen(function* () {
    return yield* InletProcess.start({
      ...bucket.settings,
      DATABASE_URL,
      DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" }),
      SECRETS_KEY: Buffer.alloc(32, 5).toString("base64"),
      SMTP_PROXY_FROM: "127.0.0.1",
      TRUST_PROXY: "1"
    })
  })
  const inlets = yield* Effect.all([start, start], { concurrency: 2 })
  const balancer = yield* Haproxy.start({
    smtp: inlets.map(({ smtpPort }) => smtpPort),
    http: inlets.map(({ url }) => Number(new URL(url).port))
  })
  const context = yield* Layer.build(Database.layerPostgres(Redacted.make(DATABASE_URL)))
  return { inlets, balancer, bucket, receiver, sql: Context.get(context, SqlClient.SqlClient) }
}).pipe(Effect.provide(NodeServices.layer))

describe("Two processes behind HAProxy", Needs.options(Needs.haproxy), () => {
  it.live("see the address of each client and share the load", () =>
    Effect.gen(function* () {
      const { balancer, inlets, receiver } = yield* world
      const { address } = yield* inlets[0].inbox(receiver.url)
      const clients = Array.makeBy(8, (number) => `127.0.7.${number + 1}`)
      for (const [number, localAddress] of clients.entries()) {
        assert.match(yield* Mailbox.deliver(balancer.smtpPort, address, message(number), { localAddress }), /^250 /)
      }
      const events = yield* eventually(receiver.all, (all) => all.length === clients.length)
      assert.sameMembers(
        events.map(({ event }) => event.envelope.remoteAddress),
        clients
      )
      for (const inlet of inlets) {
        const { text } = yield* inlet.call("GET", "/metrics")
        assert.match(text, /^inlet_smtp_replies_total\{command="DATA",code="250"\} [1-9]/m)
      }
      // The balancer's health checks cause no log entries.
      for (const inlet of inlets) assert.notInclude(yield* inlet.output, "ERROR")
    })
  )

  it.live("serve one API that continues when one of them stops", () =>
    Effect.gen(function* () {
      const { balancer, inlets, receiver } = yield* world
      const { domainId, key } = yield* inlets[0].inbox(receiver.url)
      const listed = call(balancer.url, "GET", `/api/domains/${domainId}/events`, { key })
      const statuses = yield* Effect.forEach(Array.range(1, 20), () => listed)
      yield* inlets[0].signal("SIGTERM")
      yield* inlets[0].ending
      const later = yield* Effect.forEach(Array.range(1, 20), () => listed)
      assert.deepStrictEqual([...new Set([...statuses, ...later].map(({ status }) => status))], [200])
    })
  )

  it.live("lose no mail and duplicate none when one is killed with -9", () =>
    Effect.gen(function* () {
      const { balancer, inlets, receiver, sql } = yield* world
      const { address, domainId, key } = yield* inlets[1].inbox(receiver.url)
      const numbers = Array.range(1, 300)
      const answered = yield* Ref.make(0)
      // Retries a message until it is answered 250, as a sender does.
      const send = (number: number) =>
        Mail.send(balancer.smtpPort, {
          envelope: { from: "a@sender.example", to: address },
          raw: message(number)
        }).pipe(
          Effect.retry(Schedule.spaced("100 millis")),
          Effect.andThen(Ref.updateAndGet(answered, (count) => count + 1)),
          Effect.tap((count) => (count === 100 ? inlets[0].signal("SIGKILL") : Effect.void))
        )
      yield* Effect.forEach(numbers, send, { concurrency: 10, discard: true })
      assert.deepStrictEqual(yield* inlets[0].ending, { code: null, signal: "SIGKILL" })

      // The work of the dead process would be taken over after 60 s.
      yield* Effect.sleep("3 seconds")
      yield* sql`UPDATE inbound_emails SET leased_until = now() - interval '1 second' WHERE state = 'received'`
      yield* sql`UPDATE deliveries SET leased_until = now() - interval '1 second' WHERE leased_until IS NOT NULL`
      yield* eventually(
        sql`SELECT 1 FROM deliveries WHERE status = 'delivered'`,
        (rows) => rows.length >= numbers.length
      )
      const heard = new Map((yield* receiver.all).map(({ event }) => [String(event.event_id), String(event.subject)]))
      assert.sameMembers(
        [...heard.values()],
        numbers.map((number) => `mail ${number}`)
      )
      const { json } = yield* inlets[1].call("GET", `/api/domains/${domainId}/events?limit=100`, { key })
      const newest = json.events[0]
      const raw = yield* call(balancer.url, "GET", `/api/domains/${domainId}/events/${newest.event_id}/raw`, { key })
      assert.include(raw.text, `Subject: ${newest.subject}\r\n`)
    })
  )
})

describe("HAProxy", Needs.options(Needs.haproxy), () => {
  it.live("appends the client address to X-Forwarded-For, where TRUST_PROXY=1 reads it", () =>
    Effect.gen(function* () {
      const port = yield* Ports.free
      const seen: Array<IncomingHttpHeaders> = []
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          createServer((request, response) => {
            if (request.url !== "/ready") seen.push(request.headers)
            response.end()
          }).listen(port, "127.0.0.1")
        ),
        (server) =>
          Effect.sync(() => {
            server.closeAllConnections()
            server.close()
          })
      )
      const balancer = yield* Haproxy.start({ smtp: [port], http: [port] })
      yield* call(balancer.url, "GET", "/api/domains", { headers: { "x-forwarded-for": "203.0.113.7, 203.0.113.8" } })
      const [headers = {}] = seen
      assert.strictEqual(headers["x-forwarded-for"], "203.0.113.7, 203.0.113.8, 127.0.0.1")
    })
  )
})
