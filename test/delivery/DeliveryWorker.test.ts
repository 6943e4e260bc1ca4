import type { IncomingMessage, ServerResponse } from "node:http"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Array, Clock, ConfigProvider, Effect, FileSystem, Layer, Logger, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { DeliveryQueue } from "../../src/delivery/DeliveryQueue.ts"
import * as DeliveryWorker from "../../src/delivery/DeliveryWorker.ts"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { FormatSender } from "../../src/delivery/FormatSender.ts"
import { Crowded } from "../../src/delivery/RequestMemory.ts"
import { WebhookSender } from "../../src/delivery/WebhookSender.ts"
import { DomainId } from "../../src/model/Domain.ts"
import * as Resolver from "../../src/providers/dns/Resolver.ts"
import { WebhookSigner } from "../../src/providers/signing/WebhookSigner.ts"
import { Workspaces } from "../../src/workspaces/Workspaces.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"
import * as Deliveries from "./Deliveries.ts"

const key = Buffer.alloc(32, 5).toString("base64")

const settings = (env: Record<string, string>) =>
  Layer.provide(
    Layer.unwrap(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })
        return ConfigProvider.layer(ConfigProvider.fromEnv({ env: { DATA_DIR: folder, SECRETS_KEY: key, ...env } }))
      })
    ).pipe(Layer.provide(NodeServices.layer))
  )

/** A second worker on the same database, as in another process. */
const startWorker = (
  env: Record<string, string> = {},
  sender: typeof WebhookSender.layer = WebhookSender.layer,
  formats: Layer.Layer<FormatSender> = Deliveries.noFormats,
  queue: typeof DeliveryQueue.layer = DeliveryQueue.layer
) =>
  Layer.build(
    DeliveryWorker.layer.pipe(
      Layer.provide([queue, sender, EventFeed.layer, formats]),
      Layer.provide([Resolver.layer, WebhookSigner.layer]),
      settings(env),
      Layer.fresh
    )
  )

/** A domain whose webhook has this path, with this many due deliveries. */
const backlog = Effect.fnUntraced(function* (receiver: WebhookReceiver["Service"], path: string, count: number) {
  const domain = yield* Deliveries.domain(new URL(path, receiver.url).href)
  return yield* Deliveries.pending(domain.id, count)
})

const undelivered = SqlClient.SqlClient.use((sql) =>
  Effect.map(
    sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM deliveries WHERE status <> 'delivered'`,
    (rows) => rows[0]?.count
  )
)

/** A queue that can't store the first outcomes, because the database is away. */
const awayFor = (outcomes: number) => {
  let failures = 0
  const away = new SqlError({ reason: new ConnectionError({ cause: "away" }) })
  return Layer.effect(
    DeliveryQueue,
    Effect.map(DeliveryQueue, (queue) => ({
      ...queue,
      settle: (...outcome: Parameters<typeof queue.settle>) =>
        Effect.suspend(() => (failures++ < outcomes ? Effect.fail(away) : queue.settle(...outcome)))
    }))
  ).pipe(Layer.provide(DeliveryQueue.layer))
}

/** Counts concurrent requests for each path and in total, and answers after a delay. */
const slowly = () => {
  const open = new Map<string, number>()
  const most = new Map<string, number>()
  const change = (path: string, by: number) => {
    for (const name of [path, "all"]) {
      open.set(name, (open.get(name) ?? 0) + by)
      most.set(name, Math.max(most.get(name) ?? 0, open.get(name) ?? 0))
    }
  }
  const react = (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? ""
    change(path, 1)
    Effect.sleep("100 millis").pipe(
      Effect.andThen(
        Effect.sync(() => {
          change(path, -1)
          response.end()
        })
      ),
      Effect.runFork
    )
  }
  return { most, react }
}

layer(Workspaces.layer.pipe(settings({}), Layer.provideMerge(TestDatabase.layer)), {
  excludeTestServices: true
})("DeliveryWorker", (it) => {
  it.effect("shares a queue with another worker and delivers each of 500 deliveries once", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const ids = yield* Effect.forEach(Array.range(1, 5), (number) => backlog(receiver, `/${number}`, 100))
      yield* Effect.all([startWorker(), startWorker()])

      yield* eventually(undelivered, (count) => count === 0)
      const heard = (yield* receiver.all).map(({ event }) => event.event_id)
      assert.lengthOf(heard, 500)
      assert.sameMembers(heard, ids.flat())
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly attempts: number; readonly domains: number }>`
        SELECT (SELECT count(*)::int FROM delivery_attempts WHERE ok AND attempt = 1) AS attempts,
          (SELECT count(*)::int FROM domains WHERE status = 'live') AS domains
      `
      assert.deepStrictEqual(rows, [{ attempts: 500, domains: 5 }])
    })
  )

  it.effect("respects its concurrency, per domain and in total", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { most, react } = slowly()
      yield* receiver.answerAlways(react)
      yield* Effect.forEach(["/a", "/b", "/c"], (path) => backlog(receiver, path, 20))
      yield* startWorker({ DELIVERY_CONCURRENCY: "7", DELIVERY_CONCURRENCY_PER_WEBHOOK: "3" })

      yield* eventually(undelivered, (count) => count === 0)
      assert.strictEqual(most.get("all"), 7)
      for (const path of ["/a", "/b", "/c"]) assert.strictEqual(most.get(path), 3)
      assert.lengthOf(yield* receiver.all, 60)
    })
  )

  it.effect("counts a request that cannot be built as failed, and continues", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const [poison] = yield* backlog(receiver, "/poison", 1)
      const [sound] = yield* backlog(receiver, "/sound", 1)
      if (poison === undefined || sound === undefined) return assert.fail("no deliveries")
      const sender = Layer.effect(
        WebhookSender,
        Effect.map(WebhookSender, ({ send }) => ({
          send: (delivery: Parameters<typeof send>[0]) => {
            if (delivery.eventId === poison) throw new Error("a header no request can have")
            return send(delivery)
          }
        }))
      ).pipe(Layer.provide(WebhookSender.layer))
      yield* startWorker({ WEBHOOK_RETRY_DELAYS: "10ms,10ms" }, sender).pipe(Effect.provide(Logger.layer([])))

      yield* eventually(Deliveries.delivery(sound), ({ status }) => status === "delivered")
      const dead = yield* eventually(Deliveries.delivery(poison), ({ status }) => status === "dead")
      assert.deepInclude(dead, { attempts: 3, leasedFor: null, lastError: "the request could not be made" })
      assert.lengthOf(yield* Deliveries.attempts(poison), 3)
      yield* SqlClient.SqlClient.use((sql) => sql`DELETE FROM deliveries`)
    })
  )

  it.effect("gives a delivery in another format back if there is no memory for it, without an attempt", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const sql = yield* SqlClient.SqlClient
      const [id] = yield* backlog(receiver, "/raw", 1)
      if (id === undefined) return assert.fail("no delivery")
      yield* sql`UPDATE webhooks SET format = 'raw' WHERE id = (SELECT webhook_id FROM deliveries WHERE event_id = ${id})`
      const refusals = yield* Ref.make(3)
      const formats = Layer.effect(
        FormatSender,
        Effect.map(WebhookSender, ({ send }) => ({
          send: (delivery) =>
            Effect.flatMap(
              Ref.getAndUpdate(refusals, (left) => left - 1),
              (left) => (left > 0 ? Effect.fail(new Crowded()) : send(delivery))
            )
        }))
      ).pipe(
        Layer.provide(WebhookSender.layer),
        Layer.provide([Resolver.layer, WebhookSigner.layer]),
        settings({}),
        Layer.provide(NodeServices.layer)
      )
      yield* startWorker({}, WebhookSender.layer, Layer.orDie(formats))

      const delivered = yield* eventually(Deliveries.delivery(id), ({ status }) => status === "delivered")
      assert.deepInclude(delivered, { attempts: 1, lastError: null })
      assert.lengthOf(yield* Deliveries.attempts(id), 1)
      assert.isAtMost(yield* Ref.get(refusals), -1)
    })
  )

  it.effect("sends the backlog of one webhook without a pause between requests", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* backlog(receiver, "/many", 640)
      const started = yield* Clock.currentTimeMillis
      yield* startWorker()
      yield* eventually(undelivered, (left) => left === 0)
      // Forty times the concurrency: polling every second would take 40 s.
      assert.isBelow((yield* Clock.currentTimeMillis) - started, 30_000)
    })
  )

  it.effect("stores an outcome after an outage of the database, and repeats no request", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* backlog(receiver, "/away", 3)
      yield* startWorker({}, WebhookSender.layer, Deliveries.noFormats, awayFor(5))
      yield* eventually(undelivered, (left) => left === 0)
      assert.lengthOf(yield* receiver.all, 3)
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT max(attempts) AS attempts FROM deliveries`, [{ attempts: 1 }])
    })
  )

  it.effect("reuses a free slot at once", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* backlog(receiver, "/one-by-one", 100)
      const started = yield* Clock.currentTimeMillis
      yield* startWorker({ DELIVERY_CONCURRENCY_PER_WEBHOOK: "1" })
      yield* eventually(undelivered, (count) => count === 0)
      // Polling would send one a second, which takes 100 s.
      assert.isBelow((yield* Clock.currentTimeMillis) - started, 60_000)
    })
  )
})

layer(TestInlet.layer(), { excludeTestServices: true })("A hanging webhook", (it) => {
  it.effect("with hundreds of waiting mails delays no other domain", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const hanging = yield* WebhookReceiver.make
      const healthy = yield* WebhookReceiver.make
      yield* hanging.answerAlways(() => {})
      const stuck = yield* inlet.inbox(hanging.url)
      const well = yield* inlet.inbox(healthy.url)
      // Everything that starts with the first mail has started.
      yield* Mail.send(inlet.smtpPort, { to: well.address })
      yield* healthy.next
      yield* Deliveries.pending(DomainId.make(stuck.domainId), 500)
      yield* Mail.send(inlet.smtpPort, { to: stuck.address })
      yield* eventually(hanging.all, (requests) => requests.length === 1)

      for (const _ of Array.range(1, 10)) {
        yield* Mail.send(inlet.smtpPort, { to: well.address })
        const accepted = yield* Clock.currentTimeMillis
        yield* healthy.next
        // Well below 1 s. The hanging request ends after 15 s.
        assert.isBelow((yield* Clock.currentTimeMillis) - accepted, 5_000)
      }
      assert.lengthOf(yield* hanging.all, 1)
    })
  )

  it.effect("at 500 domains of 100 workspaces delays no other tenant from the first mail on", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const hanging = yield* WebhookReceiver.make
      const healthy = yield* WebhookReceiver.make
      yield* hanging.answerAlways(() => {})
      const well = yield* inlet.inbox(healthy.url)
      const workspaces = yield* Effect.replicateEffect(inlet.workspace, 100, { concurrency: 4 })
      const domains = yield* sql<{ readonly id: DomainId }>`
        INSERT INTO domains (id, workspace_id, name, origin, status, verified_at)
        SELECT gen_random_uuid(), workspace.id, gen_random_uuid() || '.example', 'byo', 'live', now()
        FROM unnest(${workspaces.map(({ id }) => id)}::uuid[]) AS workspace (id), generate_series(1, 5)
        RETURNING id
      `
      yield* Effect.forEach(domains, ({ id }) => Deliveries.target(id, hanging.url), { concurrency: 4 })
      yield* Deliveries.pendingOfEach(domains.map(({ id }) => id))

      for (const _ of Array.range(1, 20)) {
        yield* Mail.send(inlet.smtpPort, { to: well.address })
        const accepted = yield* Clock.currentTimeMillis
        yield* healthy.next
        // Well below 1 s. A wait for a slot would take 15 s.
        assert.isBelow((yield* Clock.currentTimeMillis) - accepted, 5_000)
      }
      assert.isAbove((yield* hanging.all).length, 60)
    })
  )
})
