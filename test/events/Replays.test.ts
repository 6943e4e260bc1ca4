import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Array, DateTime, Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { DeliveryQueue } from "../../src/delivery/DeliveryQueue.ts"
import type { Selection } from "../../src/events/ReplayCandidates.ts"
import { Replays } from "../../src/events/Replays.ts"
import * as ReplayWorker from "../../src/events/ReplayWorker.ts"
import type { DomainId } from "../../src/model/Domain.ts"
import type { EventId } from "../../src/model/InboundEvent.ts"
import { catchAllOf, type WebhookId } from "../../src/model/Webhook.ts"
import * as Deliveries from "../delivery/Deliveries.ts"
import * as Queues from "../delivery/Queues.ts"
import * as TestDatabase from "../TestDatabase.ts"

const url = "http://hooks.example/inbound"

const everything = { since: null, until: null, recipient: null }

/** A domain with this many dead deliveries. */
const withDead = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const { id, workspaceId } = yield* Deliveries.domain(url)
  const ids = yield* Deliveries.pending(id, count)
  yield* sql`UPDATE replays SET state = 'stopped' WHERE state = 'running'`
  yield* sql`UPDATE deliveries SET status = 'dead', attempts = 11 WHERE domain_id = ${id}`
  return { id, ids, workspaceId }
})

const start = (selection: Selection) =>
  Effect.flatMap(Replays, (replays) => replays.start({ ...selection, webhookId: null }))

/** Takes the next step of every job, half a second later. */
const step = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE replays SET turn_at = now() WHERE state = 'running'`
  return yield* ReplayWorker.step(sql)
})

const claimUpTo = (id: DomainId, most = 1_000) =>
  Effect.flatMap(DeliveryQueue, (queue) => queue.claim(new Map([[catchAllOf(id), most]]), 100_000_000))

/** Answers everything due at a domain, in the order of the claim. */
const answer = Effect.fnUntraced(function* (id: DomainId, status: (event: EventId) => number = () => 200) {
  const claimed = yield* claimUpTo(id)
  yield* Effect.forEach(claimed, (one) => Queues.settle(one, Queues.answered(status(one.eventId))))
  return claimed.map(({ eventId }) => eventId)
})

const World = Layer.mergeAll(Queues.layer(), Replays.layer.pipe(Layer.provide(NodeCrypto.layer))).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Logger.layer([]))
)

layer(World, { excludeTestServices: true })("A replay job", (it) => {
  it.effect("queues dead deliveries with a fresh budget, oldest first, in steps of two, four, eight and so on", () =>
    Effect.gen(function* () {
      const replays = yield* Replays
      const { id, ids } = yield* withDead(50)
      const other = yield* withDead(3)
      const job = yield* start({ domainId: id, status: "dead", ...everything })
      assert.deepInclude(job, { state: "running", total: 50, queued: 0, delivered: 0, failed: 0 })
      const rounds: Array<ReadonlyArray<EventId>> = []
      for (const _ of Array.range(1, 7)) {
        yield* step
        rounds.push(yield* answer(id))
      }
      assert.deepStrictEqual(
        rounds.map(({ length }) => length),
        [2, 4, 8, 16, 20, 0, 0]
      )
      assert.deepStrictEqual(rounds.flat(), ids)
      const done = yield* replays.get(id, job.id)
      assert.deepInclude(done, { state: "done", total: 50, queued: 50, delivered: 50, failed: 0 })
      assert.isNotNull(done.finished_at)
      for (const event of other.ids) assert.strictEqual((yield* Deliveries.delivery(event)).status, "dead")
    })
  )

  it.effect("queues nothing while the deliveries of its last step wait for their requests", () =>
    Effect.gen(function* () {
      const { id } = yield* withDead(50)
      yield* start({ domainId: id, status: "dead", ...everything })
      yield* step
      const claimed = yield* claimUpTo(id)
      assert.lengthOf(claimed, 2)
      for (const _ of Array.range(1, 3)) {
        yield* step
        assert.deepStrictEqual(yield* claimUpTo(id), [])
      }
    })
  )

  it.effect("counts failed attempts, and halves its step while the webhook fails", () =>
    Effect.gen(function* () {
      const replays = yield* Replays
      const { id } = yield* withDead(60)
      const job = yield* start({ domainId: id, status: "dead", ...everything })
      for (const _ of Array.range(1, 3)) {
        yield* step
        yield* answer(id)
      }
      const counts: Array<number> = []
      for (const _ of Array.range(1, 4)) {
        yield* step
        counts.push((yield* answer(id, () => 500)).length)
      }
      assert.deepStrictEqual(counts, [16, 8, 4, 2])
      assert.deepInclude(yield* replays.get(id, job.id), { state: "running", delivered: 14, failed: 28 })
      yield* replays.stop(id, job.id)
    })
  )

  it.effect("is not slowed down by a failing webhook of the domain without deliveries in it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const replays = yield* Replays
      const { id } = yield* withDead(10)
      yield* sql`
        INSERT INTO webhooks (id, domain_id, pattern, action, url, failing_since)
        VALUES (${crypto.randomUUID()}, ${id}, 'broken', 'webhook', ${url}, now())
      `
      const job = yield* start({ domainId: id, status: "dead", ...everything })
      const counts: Array<number> = []
      for (const _ of Array.range(1, 3)) {
        yield* step
        counts.push((yield* answer(id)).length)
      }
      assert.deepStrictEqual(counts, [2, 4, 4])
      const [row] = yield* sql<{ readonly seconds: number }>`
        SELECT extract(epoch FROM turn_at - now())::float8 AS seconds FROM replays WHERE id = ${job.id}
      `
      assert.isAtMost(row?.seconds ?? Number.POSITIVE_INFINITY, 0.5)
      yield* replays.stop(id, job.id)
    })
  )

  it.effect("replays held deliveries of a recipient and a time range only", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id, ids } = yield* withDead(10)
      yield* sql`UPDATE deliveries SET status = 'held' WHERE domain_id = ${id}`
      yield* sql`UPDATE events SET recipient = 'Other@b.example' WHERE domain_id = ${id} AND position % 2 = 0`
      yield* sql`
        UPDATE events SET received_at = now() - interval '3 days', read_at = now() - interval '3 days'
        WHERE domain_id = ${id} AND position <= 4
      `
      const since = DateTime.subtract(yield* DateTime.now, { days: 2 })
      yield* start({ domainId: id, status: "held", since, until: null, recipient: "other@B.example" })
      for (const _ of Array.range(1, 3)) {
        yield* step
        yield* answer(id)
      }
      const found = yield* Effect.forEach(ids, Deliveries.delivery)
      assert.deepStrictEqual(
        found.map(({ status }) => status),
        ["held", "held", "held", "held", "held", "delivered", "held", "delivered", "held", "delivered"]
      )
    })
  )

  it.effect("replays delivered deliveries once each, and none that are delivered after its start", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id, ids } = yield* withDead(10)
      yield* sql`UPDATE deliveries SET status = 'delivered', delivered_at = now() - interval '1 second' WHERE domain_id = ${id}`
      const job = yield* start({ domainId: id, status: "delivered", ...everything })
      assert.strictEqual(job.total, 10)
      yield* Deliveries.pending(id, 1)
      yield* answer(id)
      const sent: Array<EventId> = []
      for (const _ of Array.range(1, 6)) {
        yield* step
        sent.push(...(yield* answer(id)))
      }
      assert.deepStrictEqual(sent, ids)
    })
  )

  it.effect("sends the delivered events that it counted, and none that are delivered meanwhile", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const replays = yield* Replays
      const { id, ids } = yield* withDead(6)
      const delivered = (positions: ReadonlyArray<number>, secondsFromNow: number) => sql`
        UPDATE deliveries SET status = 'delivered', delivered_at = now() + make_interval(secs => ${secondsFromNow})
        WHERE domain_id = ${id} AND position = ANY(${positions}::bigint[])
      `
      yield* delivered([1, 2, 6], -1)
      const job = yield* start({ domainId: id, status: "delivered", ...everything })
      assert.strictEqual(job.total, 3)
      yield* delivered([3, 4, 5], 1)
      const sent: Array<EventId> = []
      for (const _ of Array.range(1, 6)) {
        yield* step
        sent.push(...(yield* answer(id)))
      }
      assert.deepStrictEqual(
        sent,
        [0, 1, 5].map((at) => ids[at])
      )
      assert.deepInclude(yield* replays.get(id, job.id), { state: "done", total: 3, queued: 3, delivered: 3 })
    })
  )

  it.effect("of delivered events is limited to 10,000 of a workspace a UTC day, and a stop returns the rest", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const replays = yield* Replays
      const { id, ids, workspaceId } = yield* withDead(8)
      yield* sql`UPDATE deliveries SET status = 'delivered', delivered_at = now() - interval '1 second' WHERE domain_id = ${id}`
      const used = Effect.map(
        sql<{ readonly count: number }>`
          SELECT count FROM client_limits WHERE client = ${workspaceId} AND action = 'replayed delivered event'
        `,
        ([row]) => row?.count
      )
      const delivered = { domainId: id, status: "delivered", ...everything } as const
      const job = yield* start(delivered)
      assert.strictEqual(yield* used, 8)
      yield* step
      yield* replays.stop(id, job.id)
      yield* replays.stop(id, job.id)
      assert.strictEqual(yield* used, 2)
      yield* answer(id)

      yield* sql`UPDATE client_limits SET count = 9993 WHERE client = ${workspaceId} AND action = 'replayed delivered event'`
      const refused = yield* Effect.flip(start(delivered))
      assert.strictEqual(refused._tag, "TooManyRequests")
      assert.strictEqual(
        refused.message,
        "A workspace may replay 10,000 delivered events a day in jobs. This one has 8, and 7 are left today. Narrow it with since, until or recipient, or retry after midnight UTC"
      )
      assert.lengthOf((yield* replays.list(id, { limit: 10 })).items, 1, "no job is left behind")
      yield* sql`UPDATE client_limits SET count = 9992 WHERE client = ${workspaceId} AND action = 'replayed delivered event'`
      yield* replays.stop(id, (yield* start(delivered)).id)
      assert.strictEqual(yield* used, 9_992)

      // Dead events never arrived, so they do not count.
      yield* sql`UPDATE client_limits SET count = 10000 WHERE client = ${workspaceId} AND action = 'replayed delivered event'`
      yield* sql`UPDATE deliveries SET status = 'dead' WHERE domain_id = ${id}`
      assert.strictEqual((yield* start({ ...delivered, status: "dead" })).total, ids.length)
    })
  )

  it.effect("of more than 10,000 delivered events is refused", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* Deliveries.domain(url)
      yield* Deliveries.backlog(id, 10_001)
      yield* sql`UPDATE deliveries SET status = 'delivered', delivered_at = now() - interval '1 second' WHERE domain_id = ${id}`
      const refused = yield* Effect.flip(start({ domainId: id, status: "delivered", ...everything }))
      assert.strictEqual(
        refused.message,
        "A workspace may replay 10,000 delivered events a day in jobs, and this one has 10,001. Narrow it with since, until or recipient"
      )
    })
  )

  it.effect("is refused while another one of the domain runs, and after a stop queues nothing more", () =>
    Effect.gen(function* () {
      const replays = yield* Replays
      const { id } = yield* withDead(10)
      const job = yield* start({ domainId: id, status: "dead", ...everything })
      const refused = yield* Effect.flip(start({ domainId: id, status: "dead", ...everything }))
      assert.include(refused.message, job.id)
      yield* step
      assert.deepInclude(yield* replays.stop(id, job.id), { state: "stopped", queued: 2 })
      yield* answer(id)
      assert.isUndefined(yield* step)
      assert.deepStrictEqual(yield* answer(id), [])
      const again = yield* start({ domainId: id, status: "dead", ...everything })
      assert.strictEqual(again.total, 8)
      const page = yield* replays.list(id, { limit: 1 })
      assert.deepStrictEqual([page.items.map((one) => one.id), page.nextCursor], [[again.id], again.id])
      const next = yield* replays.list(id, { limit: 1, cursor: again.id })
      assert.deepStrictEqual([next.items.map((one) => one.id), next.nextCursor], [[job.id], null])
      yield* replays.stop(id, again.id)
    })
  )

  it.effect("waits while its domain is disabled, has no webhook, or is paused", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const replays = yield* Replays
      const { id } = yield* withDead(3)
      const job = yield* start({ domainId: id, status: "dead", ...everything })
      yield* sql`UPDATE webhooks SET url = NULL, action = 'hold' WHERE id = ${id}`
      assert.deepInclude(yield* step, { queued: new Set<WebhookId>() })
      yield* sql`UPDATE webhooks SET action = 'webhook', url = ${url}, paused_at = now(), probe_at = now() WHERE id = ${id}`
      assert.deepInclude(yield* step, { queued: new Set<WebhookId>() })
      yield* sql`UPDATE webhooks SET paused_at = NULL, probe_at = NULL WHERE id = ${id}`
      assert.deepInclude(yield* step, { queued: new Set([catchAllOf(id)]) })
      yield* replays.stop(id, job.id)
    })
  )

  it.effect("takes a step in one of several processes at a time", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const replays = yield* Replays
      const { id } = yield* withDead(10)
      const job = yield* start({ domainId: id, status: "dead", ...everything })
      const steps = yield* Effect.all(
        Array.makeBy(5, () => ReplayWorker.step(sql)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        steps.filter((one) => one !== undefined),
        1
      )
      assert.strictEqual((yield* replays.get(id, job.id)).queued, 2)
      yield* replays.stop(id, job.id)
    })
  )

  it.effect("loses nothing to a process that dies within a step", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const replays = yield* Replays
      const { id } = yield* withDead(10)
      const job = yield* start({ domainId: id, status: "dead", ...everything })
      const dying = sql.withTransaction(Effect.andThen(ReplayWorker.step(sql), Effect.fail("died")))
      assert.strictEqual(yield* Effect.flip(dying), "died")
      assert.strictEqual((yield* replays.get(id, job.id)).queued, 0)
      assert.deepStrictEqual(yield* answer(id), [])
      yield* step
      assert.lengthOf(yield* answer(id), 2)
      yield* replays.stop(id, job.id)
    })
  )

  it.effect("without any delivery is done at once", () =>
    Effect.gen(function* () {
      const { id } = yield* withDead(1)
      assert.deepInclude(yield* start({ domainId: id, status: "held", ...everything }), { state: "done", total: 0 })
    })
  )

  it.effect("counts a long queue in pieces", () =>
    Effect.gen(function* () {
      const replays = yield* Replays
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* Deliveries.domain(url)
      yield* Deliveries.backlog(id, 12_000)
      yield* sql`UPDATE deliveries SET status = 'held' WHERE domain_id = ${id}`
      assert.strictEqual(yield* replays.count({ domainId: id, status: "held", ...everything }), 12_000)
      assert.strictEqual(
        yield* replays.count({ domainId: id, status: "held", ...everything, recipient: "A@b.example" }),
        12_000
      )
      assert.strictEqual(yield* replays.count({ domainId: id, status: "dead", ...everything }), 0)
      assert.strictEqual(yield* replays.count({ domainId: id, status: "delivered", ...everything }), 0)
    })
  )
})
