import { readFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Array, ConfigProvider, Context, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import * as Patience from "../../src/database/Patience.ts"
import { catchAllOf } from "../../src/model/Webhook.ts"
import * as Platform from "../../src/process/Platform.ts"
import * as WebhookTarget from "../../src/webhooks/WebhookTarget.ts"
import { Workspaces } from "../../src/workspaces/Workspaces.ts"
import * as Deliveries from "../delivery/Deliveries.ts"
import * as Queues from "../delivery/Queues.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** The workers' shared settings, and a connection to their database. */
const shared = Effect.gen(function* () {
  const { DATABASE_URL = "", DATA_DIR } = yield* InletProcess.installation
  const settings = { DATABASE_URL, DATA_DIR, ROLES: "http,worker", SECRETS_KEY: Buffer.alloc(32, 5).toString("base64") }
  const world = yield* Layer.build(
    Workspaces.layer.pipe(
      Layer.provideMerge(Database.migrations),
      Layer.provideMerge(Database.layerPostgres(Redacted.make(DATABASE_URL))),
      Layer.provideMerge(Platform.layer),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: settings })))
    )
  )
  return { settings, world, sql: Context.get(world, SqlClient.SqlClient) }
})

/** Blocks claims until all workers are up. */
const gate = (sql: SqlClient.SqlClient) => ({
  close: sql`UPDATE domains SET status_before = status, status = 'disabled'`,
  open: sql`UPDATE domains SET status = status_before, status_before = NULL`
})

const left = (sql: SqlClient.SqlClient) =>
  Effect.map(sql`SELECT 1 FROM deliveries WHERE status <> 'delivered' LIMIT 1`, (rows) => rows.length)

/** The number of deliveries that a process reports. */
const madeBy = Effect.fnUntraced(function* (worker: InletProcess.InletProcess) {
  const { text } = yield* worker.call("GET", "/metrics")
  return Number(/^inlet_delivery_attempts_total\{outcome="delivered"\} (\d+)$/m.exec(text)?.[1] ?? 0)
})

const mebibytes = ({ pid }: InletProcess.InletProcess) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024

/** How many rows of deliveries were read, once the connections opened since `started` have ended and so reported it. */
const rowsRead = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, started: number) {
  yield* eventually(
    sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND backend_start > to_timestamp(${started})`,
    (connections) => connections.length === 0
  )
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int AS count
    FROM pg_stat_user_tables WHERE relname = 'deliveries'
  `
  return row?.count ?? Number.NaN
})

describe("Workers in separate processes", () => {
  it.live("deliver each of 10,000 deliveries once, with at most 64 concurrent requests to a webhook", () =>
    Effect.gen(function* () {
      const { settings, sql, world } = yield* shared
      const receiver = yield* WebhookReceiver.make
      const open = new Map<string, number>()
      let most = 0
      yield* receiver.answerAlways(({ url = "" }: IncomingMessage, response: ServerResponse) => {
        const now = (open.get(url) ?? 0) + 1
        open.set(url, now)
        most = Math.max(most, now)
        setImmediate(() => {
          open.set(url, (open.get(url) ?? 1) - 1)
          response.end()
        })
      })
      const ids = yield* Effect.forEach(Array.range(1, 10), (number) =>
        Effect.gen(function* () {
          const { id } = yield* Deliveries.domain(`${receiver.url}/${number}`)
          return yield* Deliveries.pending(id, 1_000)
        })
      ).pipe(Effect.provideContext(world))
      yield* gate(sql).close
      const workers = yield* Effect.all(
        Array.range(1, 4).map(() => InletProcess.start(settings)),
        { concurrency: 4 }
      )

      yield* gate(sql).open
      yield* eventually(left(sql), (count) => count === 0, "90 seconds")
      const heard = (yield* receiver.all).map(({ event }) => event.event_id)
      assert.lengthOf(heard, 10_000)
      assert.sameMembers(heard, ids.flat())
      assert.isAtMost(most, 64)
      // A process counts a delivery after it has recorded it.
      const made = yield* eventually(
        Effect.forEach(workers, madeBy),
        (counts) => counts.reduce((sum, count) => sum + count, 0) >= 10_000
      )
      assert.strictEqual(
        made.reduce((sum, count) => sum + count, 0),
        10_000
      )
      for (const count of made) assert.isAbove(count, 0)
      const attempts = yield* sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM delivery_attempts`
      assert.strictEqual(attempts[0]?.count, 10_000)
    })
  )

  it.live("repeat a delivery with the same event id when killed before they record it", () =>
    Effect.gen(function* () {
      const { settings, sql, world } = yield* shared
      const receiver = yield* WebhookReceiver.make
      const doomed = yield* InletProcess.start(settings)
      const answers: Array<() => void> = []
      yield* receiver.answerWith((_request, response) => void answers.push(() => response.end()))
      const [id] = yield* Effect.flatMap(Deliveries.domain(receiver.url), (domain) =>
        Deliveries.pending(domain.id, 1)
      ).pipe(Effect.provideContext(world))
      const first = yield* receiver.next
      yield* doomed.signal("SIGSTOP")
      for (const answer of answers) answer()
      yield* doomed.signal("SIGKILL")
      yield* doomed.ending

      yield* InletProcess.start(settings)
      yield* sql`UPDATE deliveries SET leased_until = now()`
      const second = yield* receiver.next
      assert.strictEqual(first.event.event_id, id)
      assert.deepStrictEqual(second.body, first.body)
      assert.strictEqual(second.headers["webhook-id"], first.headers["webhook-id"])
      yield* eventually(left(sql), (count) => count === 0)
    })
  )

  it.live("start without reading all of 100,000 pending deliveries, and stay small", () =>
    Effect.gen(function* () {
      const { settings, sql, world } = yield* shared
      const receiver = yield* WebhookReceiver.make
      const domain = yield* Deliveries.domain(receiver.url).pipe(Effect.provideContext(world))
      yield* Deliveries.backlog(domain.id, 100_000).pipe(Effect.provideContext(world), Patience.forMuch)
      // Requests never end, so the memory of the process is at its maximum.
      yield* receiver.answerAlways(() => {})

      const [clock] = yield* sql<{ readonly started: number }>`
        SELECT extract(epoch FROM clock_timestamp())::float8 AS started
      `
      const worker = yield* InletProcess.fromSources(InletProcess.start(settings))
      yield* receiver.next
      assert.isBelow(mebibytes(worker), 400)
      yield* worker.signal("SIGKILL")
      yield* worker.ending
      // The gauges read 20,000 at most.
      assert.isBelow(yield* rowsRead(sql, clock?.started ?? Number.NaN), 40_000)
      // A webhook without an answer has a concurrency of 1.
      assert.lengthOf(yield* receiver.all, 1)
      const leased = yield* sql`SELECT 1 FROM deliveries WHERE leased_until IS NOT NULL`
      // At most three batches of its requests.
      assert.isAtMost(leased.length, 48)
    })
  )
})

/** Waits until a query has a row. Fails with the reason if the work ends instead. */
const meanwhile = <A, E, A2, E2>(work: Fiber.Fiber<A, E>, query: Effect.Effect<ReadonlyArray<A2>, E2>) =>
  eventually(query, (rows) => rows.length > 0).pipe(
    Effect.raceFirst(Effect.andThen(Fiber.join(work), Effect.die(new Error("It did not wait"))))
  )

/** The sessions that wait for this transaction. */
const waiters = (sql: SqlClient.SqlClient) =>
  sql`SELECT pid FROM pg_locks WHERE pg_blocking_pids(pid) @> ARRAY[pg_backend_pid()]`

/** The sessions that wait for those. */
const waitersOfWaiters = (sql: SqlClient.SqlClient) =>
  sql`SELECT 1 FROM pg_locks JOIN (${waiters(sql)}) AS first ON pg_blocking_pids(pg_locks.pid) @> ARRAY[first.pid]`

/** A claimed delivery, and what stores the outcome of its request. */
const claimedOne = Effect.gen(function* () {
  const { sql, world } = yield* shared
  const queue = yield* Layer.build(Queues.layer()).pipe(Effect.provideContext(world))
  const { id } = yield* Deliveries.domain("http://hooks.example/").pipe(Effect.provideContext(world))
  const [event] = yield* Deliveries.pending(id, 1).pipe(Effect.provideContext(world))
  const [claimed] = yield* Queues.claimUpTo(1).pipe(Effect.provideContext(queue))
  if (event === undefined || claimed === undefined) return assert.fail("nothing to settle")
  return {
    sql,
    claimed,
    domainId: id,
    eventId: event,
    settle: (statusCode: number) => Effect.provideContext(Queues.settle(claimed, Queues.answered(statusCode)), queue),
    delivery: Effect.provideContext(Deliveries.delivery(event), world)
  }
})

describe("A delivery outcome", () => {
  it.live("is recorded despite a deadlock with another transaction", () =>
    Effect.gen(function* () {
      const { claimed, delivery, domainId, eventId, settle, sql } = yield* claimedOne
      const [attemptListed, domainLocked, deliveryLocked] = [
        yield* Deferred.make<void>(),
        yield* Deferred.make<void>(),
        yield* Deferred.make<void>()
      ]
      const settling = yield* Effect.all([Deferred.await(attemptListed), Deferred.await(domainLocked)]).pipe(
        Effect.andThen(settle(200)),
        Effect.forkScoped
      )
      const other = yield* Effect.gen(function* () {
        // It looks for no deadlock itself, so PostgreSQL aborts the transaction of the outcome.
        yield* sql`SET LOCAL deadlock_timeout = '10min'`
        yield* sql`
          INSERT INTO delivery_attempts (id, event_id, domain_id, attempt, url, requested_at, ok)
          VALUES (gen_random_uuid(), ${eventId}, ${domainId}, ${claimed.attempt}, 'http://hooks.example/', now(), false)
        `
        yield* Deferred.succeed(attemptListed, undefined)
        yield* Deferred.await(deliveryLocked)
        yield* sql`UPDATE deliveries SET due_at = due_at WHERE event_id = ${eventId}`
      }).pipe(sql.withTransaction, Effect.forkScoped)
      // The outcome has its delivery, and waits for this lock until the other transaction waits for that delivery.
      yield* Effect.gen(function* () {
        yield* sql`SELECT 1 FROM domains WHERE id = ${domainId} FOR NO KEY UPDATE`
        yield* Deferred.succeed(domainLocked, undefined)
        yield* meanwhile(settling, waiters(sql))
        yield* Deferred.succeed(deliveryLocked, undefined)
        yield* meanwhile(settling, waitersOfWaiters(sql))
      }).pipe(sql.withTransaction)
      yield* Fiber.join(other)
      yield* Fiber.join(settling)
      assert.strictEqual((yield* delivery).status, "delivered")
      // A retry that takes the delivery before the other transaction wakes up meets another deadlock.
      yield* eventually(
        sql<{ readonly deadlocks: number }>`
          SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()
        `,
        ([database]) => database !== undefined && database.deadlocks > 0
      )
    })
  )

  it.live("of a failure waits for a change of its webhook, and leaves the delivery due at the new URL", () =>
    Effect.gen(function* () {
      const { delivery, domainId, settle, sql } = yield* claimedOne
      const changed = yield* Deferred.make<void>()
      const settling = yield* Effect.forkScoped(Effect.andThen(Deferred.await(changed), settle(401)))
      yield* Effect.gen(function* () {
        yield* WebhookTarget.change(sql, catchAllOf(domainId), { action: "webhook", url: "http://hooks.example/new" })
        yield* Deferred.succeed(changed, undefined)
        yield* meanwhile(settling, waiters(sql))
      }).pipe(sql.withTransaction)
      yield* Fiber.join(settling)
      const { dueIn, status } = yield* delivery
      assert.strictEqual(status, "pending")
      assert.isAtMost(dueIn, 0)
    })
  )
})
