import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Array, Clock, ConfigProvider, DateTime, Effect, FileSystem, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { type Claimed, DeliveryQueue } from "../../src/delivery/DeliveryQueue.ts"
import type { Outcome } from "../../src/delivery/WebhookSender.ts"
import type { DomainId } from "../../src/model/Domain.ts"
import { Workspaces } from "../../src/workspaces/Workspaces.ts"
import * as TestDatabase from "../TestDatabase.ts"
import * as Deliveries from "./Deliveries.ts"

const url = "http://hooks.example/inbound"

const settings = (env: Record<string, string>) => Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))

/** A queue of its own over the one database, as another process would have it. */
const queueWith = (env: Record<string, string>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })
      return Layer.mergeAll(DeliveryQueue.layer, Workspaces.layer).pipe(
        settings({ DATA_DIR: folder, SECRETS_KEY: Buffer.alloc(32, 5).toString("base64"), ...env })
      )
    })
  ).pipe(Layer.provide(NodeServices.layer), Layer.fresh)

const answered = (statusCode: number, retryAfter: string | null = null): Outcome => ({
  statusCode,
  error: statusCode >= 200 && statusCode < 300 ? null : `the webhook answered ${statusCode}`,
  durationMs: 12,
  responseBody: "said",
  retryAfter
})

const claimUpTo = Effect.fnUntraced(function* (
  most: number,
  { busy = new Map<DomainId, number>(), perDomain = 1_000 } = {}
) {
  const queue = yield* DeliveryQueue
  return yield* queue.claim({ most, perDomain, busy })
})

const settle = Effect.fnUntraced(function* (claimed: Claimed, outcome: Outcome) {
  const queue = yield* DeliveryQueue
  yield* queue.settle(claimed, outcome, yield* DateTime.now)
})

/** What is left over from another test is none of this one's business. */
const onlyMine = Effect.fnUntraced(function* (count: number, webhookUrl: string | null = url) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM deliveries`
  const domain = yield* Deliveries.domain(webhookUrl)
  return { domain, ids: yield* Deliveries.pending(domain.id, count) }
})

/** One delivery, claimed by a process with these settings. */
const one = Effect.fnUntraced(function* (env: Record<string, string> = {}) {
  const {
    domain,
    ids: [id]
  } = yield* onlyMine(1)
  const [claimed] = yield* claimUpTo(1).pipe(Effect.provide(queueWith(env)))
  return id === undefined || claimed === undefined ? yield* Effect.die("nothing to claim") : { domain, id, claimed }
})

layer(queueWith({}).pipe(Layer.provideMerge(TestDatabase.layer)), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("DeliveryQueue", (it) => {
  it.effect("hands out what is due, oldest first, with all that a request needs", () =>
    Effect.gen(function* () {
      const { domain, ids } = yield* onlyMine(5)
      const claimed = yield* claimUpTo(3)
      assert.sameMembers(
        claimed.map(({ eventId }) => eventId),
        ids.slice(0, 3)
      )
      for (const delivery of claimed) {
        assert.deepInclude(delivery, { domainId: domain.id, attempt: 1, attemptOfBudget: 1, url })
        assert.strictEqual(JSON.parse(delivery.payload).event_id, delivery.eventId)
        assert.strictEqual(Redacted.value(delivery.secrets.current), Redacted.value(domain.signingSecret))
        assert.isUndefined(delivery.secrets.previous)
      }
    })
  )

  it.effect("hands nothing out twice, however many ask at once", () =>
    Effect.gen(function* () {
      const { ids } = yield* onlyMine(60)
      const rounds = yield* Effect.replicateEffect(claimUpTo(10), 12, { concurrency: "unbounded" })
      const claimed = rounds.flat().map(({ eventId }) => eventId)
      assert.lengthOf(claimed, new Set(claimed).size)
      // Who asks in the same moment may be left with less, never with somebody else's.
      const rest = (yield* claimUpTo(1_000)).map(({ eventId }) => eventId)
      assert.sameMembers([...claimed, ...rest], ids)
    })
  )

  it.effect("keeps a lease for 60 seconds", () =>
    Effect.gen(function* () {
      const { id } = yield* one()
      assert.closeTo((yield* Deliveries.delivery(id)).leasedFor ?? Number.NaN, 60, 5)
      yield* Deliveries.pass("50 seconds")
      assert.deepStrictEqual(yield* claimUpTo(10), [])
    })
  )

  it.effect("keeps it for WEBHOOK_TIMEOUT and 30 seconds where that is longer", () =>
    Effect.gen(function* () {
      const { id } = yield* one({ WEBHOOK_TIMEOUT: "90s" })
      assert.closeTo((yield* Deliveries.delivery(id)).leasedFor ?? Number.NaN, 120, 5)
    })
  )

  it.effect("gives a domain as many at a time as it has room beside its busy ones", () =>
    Effect.gen(function* () {
      const { domain: first } = yield* onlyMine(20)
      const second = yield* Deliveries.domain(url)
      yield* Deliveries.pending(second.id, 20)

      const claimed = yield* claimUpTo(100, { perDomain: 5, busy: new Map([[first.id, 3]]) })
      const of = (domainId: DomainId) => claimed.filter((delivery) => delivery.domainId === domainId).length
      assert.strictEqual(of(first.id), 2)
      assert.strictEqual(of(second.id), 5)
      const none = yield* claimUpTo(100, {
        perDomain: 5,
        busy: new Map([
          [first.id, 5],
          [second.id, 9]
        ])
      })
      assert.deepStrictEqual(none, [])
    })
  )

  it.effect("finds a domain's mail behind the hundreds of mails of a saturated one", () =>
    Effect.gen(function* () {
      const { domain: hung } = yield* onlyMine(500)
      const healthy = yield* Deliveries.domain(url)
      const [id] = yield* Deliveries.pending(healthy.id, 1)
      const claimed = yield* claimUpTo(8, { perDomain: 16, busy: new Map([[hung.id, 16]]) })
      assert.deepStrictEqual(
        claimed.map(({ eventId }) => eventId),
        id === undefined ? [] : [id]
      )
    })
  )

  it.effect("leaves alone what is not due, disabled, or without a webhook", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domain } = yield* onlyMine(1)
      yield* sql`UPDATE deliveries SET due_at = now() + interval '1 second'`
      assert.deepStrictEqual(yield* claimUpTo(10), [])

      yield* sql`UPDATE deliveries SET due_at = now()`
      yield* sql`UPDATE domains SET status_before = status, status = 'disabled' WHERE id = ${domain.id}`
      assert.deepStrictEqual(yield* claimUpTo(10), [])

      yield* sql`
        UPDATE domains SET status = status_before, status_before = NULL, webhook_url = NULL WHERE id = ${domain.id}
      `
      assert.deepStrictEqual(yield* claimUpTo(10), [])

      yield* sql`UPDATE domains SET webhook_url = ${url} WHERE id = ${domain.id}`
      assert.lengthOf(yield* claimUpTo(10), 1)
    })
  )

  it.effect("writes down a success: delivered, the attempt listed, the domain live", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { claimed, domain, id } = yield* one()
      yield* settle(claimed, answered(204))

      const delivery = yield* Deliveries.delivery(id)
      assert.deepInclude(delivery, { status: "delivered", attempts: 1, leasedFor: null, lastError: null })
      assert.instanceOf(delivery.deliveredAt, Date)
      assert.deepStrictEqual(yield* Deliveries.attempts(id), [
        { attempt: 1, ok: true, statusCode: 204, error: null, url }
      ])
      const rows = yield* sql<{ readonly status: string; readonly liveAt: Date | null }>`
        SELECT status, live_at FROM domains WHERE id = ${domain.id}
      `
      assert.strictEqual(rows[0]?.status, "live")
      assert.instanceOf(rows[0]?.liveAt, Date)
      yield* Deliveries.pass("1 year")
      assert.deepStrictEqual(yield* claimUpTo(10), [])
    })
  )

  it.effect("writes down a failure: due again after the first delay, the domain not live", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { claimed, domain, id } = yield* one()
      yield* settle(claimed, answered(500))

      const delivery = yield* Deliveries.delivery(id)
      assert.deepInclude(delivery, { status: "pending", attempts: 1, leasedFor: null, deliveredAt: null })
      assert.strictEqual(delivery.lastError, "the webhook answered 500")
      assert.isAtLeast(delivery.dueIn, 3.5)
      assert.isAtMost(delivery.dueIn, 6)
      const rows = yield* sql<{ readonly status: string }>`SELECT status FROM domains WHERE id = ${domain.id}`
      assert.strictEqual(rows[0]?.status, "mx_pending")
      assert.deepStrictEqual(yield* claimUpTo(10), [])
      yield* Deliveries.pass("6 seconds")
      const [again] = yield* claimUpTo(10)
      assert.deepInclude(again, { eventId: id, attempt: 2, attemptOfBudget: 2 })
    })
  )

  it.effect("waits longer after each failure and gives up after the eleventh", () =>
    Effect.gen(function* () {
      const { ids } = yield* onlyMine(1)
      const [id] = ids
      if (id === undefined) return assert.fail("no delivery")
      const waits: Array<number> = []
      for (const attempt of Array.range(1, 11)) {
        const [claimed] = yield* claimUpTo(1)
        if (claimed === undefined) return assert.fail(`attempt ${attempt} was not due`)
        assert.strictEqual(claimed.attempt, attempt)
        yield* settle(claimed, answered(500))
        const { dueIn, status } = yield* Deliveries.delivery(id)
        assert.strictEqual(status, attempt === 11 ? "dead" : "pending")
        waits.push(dueIn)
        yield* Deliveries.pass("2 days")
      }
      const documented = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
      documented.forEach((wait, index) => {
        assert.isAtLeast(waits[index] ?? Number.NaN, wait * 0.8 - 2)
        assert.isAtMost(waits[index] ?? Number.NaN, wait * 1.2)
      })
      assert.deepStrictEqual(yield* claimUpTo(10), [])
      const listed = yield* Deliveries.attempts(id)
      assert.deepStrictEqual(
        listed.map(({ attempt }) => attempt),
        Array.range(1, 11)
      )
      assert.strictEqual((yield* Deliveries.delivery(id)).lastError, "the webhook answered 500")
    })
  )

  it.effect("gives up at once after a 410", () =>
    Effect.gen(function* () {
      const { claimed, id } = yield* one()
      yield* settle(claimed, answered(410))
      assert.deepInclude(yield* Deliveries.delivery(id), {
        status: "dead",
        attempts: 1,
        lastError: "the webhook answered 410"
      })
    })
  )

  const date = (seconds: number) =>
    Effect.map(Clock.currentTimeMillis, (now) =>
      DateTime.toDateUtc(DateTime.makeUnsafe(now + seconds * 1_000)).toUTCString()
    )

  for (const { asked, says, status, waits } of [
    { says: "in seconds", status: 503, asked: Effect.succeed("120"), waits: [120, 120] },
    { says: "of a 429 too", status: 429, asked: Effect.succeed("120"), waits: [120, 120] },
    { says: "as an HTTP date", status: 503, asked: date(600), waits: [598, 600] },
    {
      says: "up to a day, where it wants more",
      status: 503,
      asked: Effect.succeed("315360000"),
      waits: [86_400, 86_400]
    },
    {
      says: "up to a day, where it wants the impossible",
      status: 503,
      asked: Effect.succeed("9".repeat(400)),
      waits: [86_400, 86_400]
    },
    {
      says: "up to a day, where the date is years away",
      status: 503,
      asked: date(315_360_000),
      waits: [86_400, 86_400]
    },
    { says: "but not when it is shorter than the schedule", status: 503, asked: Effect.succeed("0"), waits: [4, 6] },
    { says: "but not when it is negative", status: 503, asked: Effect.succeed("-120"), waits: [4, 6] },
    { says: "but not when it is a date that has passed", status: 503, asked: date(-600), waits: [4, 6] },
    { says: "but not when it makes no sense", status: 503, asked: Effect.succeed("tomorrow, maybe"), waits: [4, 6] },
    { says: "but not when it is a fraction", status: 503, asked: Effect.succeed("120.5"), waits: [4, 6] },
    { says: "but not of another status", status: 500, asked: Effect.succeed("120"), waits: [4, 6] }
  ] as const) {
    it.effect(`honours Retry-After ${says}`, () =>
      Effect.gen(function* () {
        const { claimed, id } = yield* one()
        yield* settle(claimed, answered(status, yield* asked))
        const { dueIn, status: state } = yield* Deliveries.delivery(id)
        assert.strictEqual(state, "pending")
        assert.isAtLeast(dueIn, waits[0] - 1.5)
        assert.isAtMost(dueIn, waits[1])
      })
    )
  }

  it.effect("lets Retry-After buy no attempt beyond the last", () =>
    Effect.gen(function* () {
      const { claimed, id } = yield* one()
      yield* settle({ ...claimed, attemptOfBudget: 11 }, answered(503, "60"))
      assert.strictEqual((yield* Deliveries.delivery(id)).status, "dead")
    })
  )

  it.effect("hands an expired lease to another worker, and lists the attempt whose worker died", () =>
    Effect.gen(function* () {
      const { id } = yield* one()
      yield* Deliveries.pass("61 seconds")
      const [taken] = yield* claimUpTo(1).pipe(Effect.provide(queueWith({})))
      assert.deepInclude(taken, { eventId: id, attempt: 2, attemptOfBudget: 2 })
      assert.deepStrictEqual(yield* Deliveries.attempts(id), [
        { attempt: 1, ok: false, statusCode: null, error: "the worker stopped before it knew the answer", url }
      ])
    })
  )

  for (const outcome of [answered(200), answered(500), answered(410)]) {
    it.effect(`changes nothing when a worker that lost its lease brings a late ${outcome.statusCode}`, () =>
      Effect.gen(function* () {
        const { claimed: lost, id } = yield* one()
        yield* Deliveries.pass("61 seconds")
        const [taken] = yield* claimUpTo(1)
        if (taken === undefined) return assert.fail("the lease was not taken over")
        const before = yield* Deliveries.delivery(id)

        yield* settle(lost, outcome)
        const { dueIn: _, leasedFor, ...after } = yield* Deliveries.delivery(id)
        assert.deepInclude(before, after)
        assert.closeTo(leasedFor ?? Number.NaN, 60, 5)
        // What the lost attempt was answered is told all the same.
        assert.deepInclude((yield* Deliveries.attempts(id))[0], { attempt: 1, statusCode: outcome.statusCode })

        yield* settle(taken, answered(200))
        assert.deepInclude(yield* Deliveries.delivery(id), { status: "delivered", attempts: 2 })
      })
    )
  }

  it.effect("has what was given back claimed again at once, as the same attempt", () =>
    Effect.gen(function* () {
      const queue = yield* DeliveryQueue
      const { claimed, id } = yield* one()
      yield* queue.giveBack(claimed)
      assert.deepInclude(yield* Deliveries.delivery(id), { status: "pending", attempts: 0, leasedFor: null })
      const [again] = yield* claimUpTo(1)
      assert.deepInclude(again, { eventId: id, attempt: 1, attemptOfBudget: 1 })
      assert.deepStrictEqual(yield* Deliveries.attempts(id), [])
    })
  )

  it.effect("takes nothing back from a worker that lost its lease", () =>
    Effect.gen(function* () {
      const queue = yield* DeliveryQueue
      const { claimed: lost, id } = yield* one()
      yield* Deliveries.pass("61 seconds")
      const taken = yield* claimUpTo(1)
      assert.lengthOf(taken, 1)
      yield* queue.giveBack(lost)
      assert.deepInclude(yield* Deliveries.delivery(id), { status: "pending", attempts: 2 })
      assert.deepStrictEqual(yield* claimUpTo(1), [])
    })
  )
})
