import type { ServerResponse } from "node:http"
import { fileURLToPath } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Array, Context, Effect, FileSystem, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })
).pipe(Effect.provide(NodeServices.layer))

const mails = (numbers: ReadonlyArray<number>, port: (number: number) => number, to: string) =>
  Effect.forEach(numbers, (number) => Mail.send(port(number), { to, subject: `mail ${number}` }), {
    concurrency: 8,
    discard: true
  })

/** The numbers in the subjects that a receiver has got, sorted, once there are this many. */
const heard = Effect.fnUntraced(function* (receiver: WebhookReceiver["Service"], count: number) {
  const requests = yield* eventually(receiver.all, (all) => all.length >= count)
  return requests.map(({ event }) => Number(/\d+/.exec(event.subject)?.[0])).sort((one, other) => one - other)
})

describe("A database", () => {
  it.live("does not open with another SECRETS_KEY", () =>
    Effect.gen(function* () {
      const installation = yield* InletProcess.installation
      const keys = ["right", "wrong"].map((name) => Buffer.from(name.padEnd(32, "!")).toString("base64"))
      const [right = "", wrong = ""] = keys
      const first = yield* InletProcess.start({ ...installation, SECRETS_KEY: right })
      yield* first.signal("SIGTERM")
      yield* first.ending

      const { inlet: second } = yield* InletProcess.spawned({ ...installation, SECRETS_KEY: wrong })
      assert.deepStrictEqual(yield* second.ending, { code: 1, signal: null })
      // Neither key is in it.
      assert.strictEqual(
        yield* second.output,
        "Inlet can't start: SECRETS_KEY: The database was written with another key. Start with that key, or with another database\n"
      )

      yield* InletProcess.start({ ...installation, SECRETS_KEY: right })
    })
  )
})

const hasServer = Effect.runSync(Effect.orDie(InletProcess.hasServer))

if (!hasServer) {
  describe("One folder with an embedded database", () => {
    it.live("belongs to one process, and a second one refuses to start", () =>
      Effect.gen(function* () {
        const settings = yield* InletProcess.installation
        const first = yield* InletProcess.start(settings)
        const { inlet: second } = yield* InletProcess.spawned(settings)

        assert.deepStrictEqual(yield* second.ending, { code: 1, signal: null })
        assert.strictEqual(
          yield* second.output,
          `Inlet can't start: DATA_DIR: ${settings.DATA_DIR} is in use by another process. Stop it, choose another DATA_DIR, or set DATABASE_URL to share one database\n`
        )
        assert.strictEqual((yield* first.call("GET", "/ready")).status, 200)
      })
    )

    it.live("is released by a stop and by kill -9", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const settings = yield* InletProcess.installation
        const first = yield* InletProcess.start(settings)
        const { key } = yield* first.inbox("http://127.0.0.1:9/")
        yield* first.signal("SIGKILL")
        assert.deepStrictEqual(yield* first.ending, { code: null, signal: "SIGKILL" })
        assert.isTrue((yield* fs.readDirectory(settings.DATA_DIR)).some((name) => name.startsWith("lock.")))

        const second = yield* InletProcess.start(settings)
        assert.strictEqual((yield* second.call("GET", "/api/domains", { key })).status, 200)
        yield* second.signal("SIGTERM")
        yield* second.ending
        const third = yield* InletProcess.start(settings)
        assert.strictEqual((yield* third.call("GET", "/api/domains", { key })).status, 200)
      }).pipe(Effect.provide(NodeServices.layer))
    )
  })
}

// Several processes can share only a server.
if (hasServer) {
  describe("Several processes on one PostgreSQL", () => {
    /** Their shared settings, and a connection to their database. */
    const sharing = Effect.fnUntraced(function* (installation: typeof InletProcess.installation) {
      const { DATABASE_URL = "", DATA_DIR } = yield* installation
      const settings = {
        DATABASE_URL,
        RAW_DIR: `${DATA_DIR}/raw`,
        SECRETS_KEY: Buffer.alloc(32, 5).toString("base64")
      }
      const context = yield* Layer.build(Database.layerPostgres(Redacted.make(DATABASE_URL)))
      return { settings, sql: Context.get(context, SqlClient.SqlClient) }
    })
    const shared = sharing(InletProcess.installation)

    /** Another process with a folder of its own. */
    const join = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>>) {
      return yield* InletProcess.start({ DATA_DIR: yield* folder, ...settings })
    })

    it.live("start concurrently on an empty database and migrate it once", () =>
      Effect.gen(function* () {
        const { settings, sql } = yield* sharing(InletProcess.emptyInstallation)
        const fs = yield* FileSystem.FileSystem
        // Each opens up to 20 connections, and a server has 100 for the tests of all workers.
        const inlets = yield* InletProcess.fromSources(Effect.all([join(settings), join(settings)], { concurrency: 2 }))
        for (const inlet of inlets) assert.strictEqual((yield* inlet.call("GET", "/ready")).status, 200)

        const files = yield* fs.readDirectory(fileURLToPath(new URL("../../migrations", import.meta.url)))
        const rows = yield* sql<{ readonly migrationId: number }>`SELECT migration_id FROM migrations ORDER BY 1`
        assert.deepStrictEqual(
          rows.map(({ migrationId }) => migrationId),
          files.map((file) => Number.parseInt(file, 10)).sort((one, other) => one - other)
        )
      }).pipe(Effect.provide(NodeServices.layer))
    )

    it.live("deliver 200 mails once each between two of them", () =>
      Effect.gen(function* () {
        const { settings, sql } = yield* shared
        const receiver = yield* WebhookReceiver.make
        const inlets = yield* Effect.all([join(settings), join(settings)], { concurrency: 2 })
        const [first, second] = inlets
        const { address } = yield* first.inbox(receiver.url)
        const numbers = Array.range(1, 200)
        yield* mails(numbers, (number) => (number % 2 === 0 ? first.smtpPort : second.smtpPort), address)

        assert.deepStrictEqual(yield* heard(receiver, 200), numbers)
        yield* eventually(
          sql<{ readonly status: string; readonly attempts: number; readonly count: number }>`
            SELECT status, attempts, count(*)::int AS count FROM deliveries GROUP BY status, attempts
          `,
          ([row, ...others]) => others.length === 0 && row?.status === "delivered" && row.count === 200
        )
        assert.lengthOf(yield* receiver.all, 200)
      })
    )

    it.live("work together in separate roles", () =>
      Effect.gen(function* () {
        const { settings } = yield* shared
        const receiver = yield* WebhookReceiver.make
        const [http, smtp] = yield* Effect.all(
          [
            join({ ...settings, ROLES: "http" }),
            join({ ...settings, ROLES: "smtp" }),
            join({ ...settings, ROLES: "worker" })
          ],
          { concurrency: 3 }
        )
        const { address, domainId, key } = yield* http.inbox(receiver.url)
        yield* mails(Array.range(1, 20), () => smtp.smtpPort, address)

        assert.deepStrictEqual(yield* heard(receiver, 20), Array.range(1, 20))
        yield* eventually(
          http.call("GET", `/api/domains/${domainId}/events?delivery=delivered`, { key }),
          ({ json }) => json.events.length === 20
        )
        const [event] = (yield* receiver.all).map(({ event }) => event)
        const raw = yield* http.call("GET", `/api/domains/${domainId}/events/${event.event_id}/raw`, { key })
        assert.strictEqual(raw.status, 200)
        assert.include(raw.text, `Subject: ${event.subject}`)
      })
    )

    it.live("receive each other's events at once, also after their connections were cut", () =>
      Effect.gen(function* () {
        const { settings, sql } = yield* shared
        const receiver = yield* WebhookReceiver.make
        const [accepting] = yield* Effect.all(
          [join({ ...settings, ROLES: "http,smtp" }), join({ ...settings, ROLES: "worker" })],
          { concurrency: 2 }
        )
        const { address } = yield* accepting.inbox(receiver.url)
        // Each mail is sent after the webhook of the previous one. A worker that polls every second would deliver one
        // mail a second, so 16 would take at least 15 s.
        const sixteen = Effect.gen(function* () {
          const started = performance.now()
          for (const number of Array.range(1, 16)) {
            yield* mails([number], () => accepting.smtpPort, address)
            yield* receiver.next
          }
          return performance.now() - started
        })
        assert.isBelow(yield* sixteen, 15_000)
        // Waits for the end of the sessions, because a terminated one remains for a moment.
        yield* sql`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`
        yield* eventually(sql`SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`, (rows) => rows.length >= 2)
        assert.isBelow(yield* sixteen, 15_000)
      })
    )

    it.live("take over the work of a suspended one and ignore its late outcomes", () =>
      Effect.gen(function* () {
        const { settings, sql } = yield* shared
        const receiver = yield* WebhookReceiver.make
        const held: Array<ServerResponse> = []
        yield* receiver.answerWith((_request, response) => void held.push(response))
        const frozen = yield* join({ ...settings, WEBHOOK_TIMEOUT: "5m" })
        const { address, domainId, key } = yield* frozen.inbox(receiver.url)
        yield* mails([1], () => frozen.smtpPort, address)
        const first = yield* receiver.next
        yield* frozen.signal("SIGSTOP")

        const other = yield* join(settings)
        yield* sql`UPDATE deliveries SET leased_until = now() - interval '1 second'`
        const second = yield* receiver.next
        assert.deepStrictEqual(second.body, first.body)
        const delivery = Effect.map(
          other.call("GET", `/api/domains/${domainId}/events`, { key }),
          ({ json }) => json.events[0].delivery
        )
        const before = yield* eventually(delivery, ({ status }) => status === "delivered")
        assert.strictEqual(before.attempts, 2)

        for (const response of held) response.writeHead(410).end()
        yield* frozen.signal("SIGCONT")
        const attempts = yield* eventually(
          other.call("GET", `/api/domains/${domainId}/delivery-attempts`, { key }),
          ({ json }) => json.deliveryAttempts.some((attempt: { statusCode: number }) => attempt.statusCode === 410)
        )
        assert.lengthOf(attempts.json.deliveryAttempts, 2)
        assert.deepStrictEqual(yield* delivery, before)
      })
    )
  })
}
