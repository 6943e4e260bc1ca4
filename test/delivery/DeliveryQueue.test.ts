import { assert, layer } from "@effect/vitest"
import { Array, Clock, DateTime, Effect, Layer, Logger, Metric, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { DeliveryQueue } from "../../src/delivery/DeliveryQueue.ts"
import { Domains } from "../../src/domains/Domains.ts"
import type { DomainId } from "../../src/model/Domain.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import * as TestDatabase from "../TestDatabase.ts"
import * as Deliveries from "./Deliveries.ts"
import * as Queues from "./Queues.ts"

const url = "http://hooks.example/inbound"

/** Clears deliveries of other tests. */
const onlyMine = Effect.fnUntraced(function* (count: number, webhookUrl: string | null = url) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM deliveries`
  const domain = yield* Deliveries.domain(webhookUrl)
  return { domain, ids: yield* Deliveries.pending(domain.id, count) }
})

/** A domain with 3,000 pending deliveries, how many it has by status, and the request that clears its URL. */
const much = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM deliveries`
  const domain = yield* Deliveries.domain(url)
  yield* Deliveries.backlog(domain.id, 3_000)
  const count = Effect.map(
    sql<{ readonly status: string; readonly count: number }>`
      SELECT status, count(*)::int AS count FROM deliveries WHERE domain_id = ${domain.id} GROUP BY status
    `,
    (rows) => Object.fromEntries(rows.map(({ count, status }) => [status, count]))
  )
  return { domain, count, clear: (yield* Domains).setWebhook(domain, null) }
})

/** The URL that a change of the webhook noted for an attempt in progress. */
const claimedUrl = Effect.fnUntraced(function* (lease: { readonly eventId: string } | undefined) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly claimedUrl: string | null }>`
    SELECT claimed_url FROM deliveries WHERE event_id = ${lease?.eventId}
  `
  return row?.claimedUrl
})

/** One delivery, claimed by a process with these settings. */
const one = Effect.fnUntraced(function* (env: Record<string, string> = {}) {
  const {
    domain,
    ids: [id]
  } = yield* onlyMine(1)
  const [claimed] = yield* Queues.claimUpTo(1).pipe(Effect.provide(Queues.layer(env)))
  return id === undefined || claimed === undefined ? yield* Effect.die("nothing to claim") : { domain, id, claimed }
})

/** The dead letters that this process has counted. */
const deadLetters = Effect.map(Metric.snapshot, (all) => {
  const found = all.find(({ id }) => id === "inlet_deliveries_dead_total")
  return found?.type === "Counter" ? Number(found.state.count) : Number.NaN
})

/** Runs as a process with a wrong clock and a queue of its own. */
const withClockOff =
  (minutes: number) =>
  <A, E>(effect: Effect.Effect<A, E, DeliveryQueue>) =>
    effect.pipe(
      Effect.provide(Queues.layer()),
      Effect.updateService(Clock.Clock, (clock): Clock.Clock => {
        const millis = minutes * 60_000
        return {
          ...clock,
          sleep: (duration) => clock.sleep(duration),
          monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
          currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis,
          currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis),
          currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(millis) * 1_000_000n,
          currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + BigInt(millis) * 1_000_000n)
        }
      })
    )

/** Loses the worker with the lease, and expires the lease. */
const lose = Effect.fnUntraced(function* () {
  const [claimed] = yield* Queues.claimUpTo(1)
  yield* Deliveries.pass("61 seconds")
  return claimed
})

layer(
  Layer.merge(Queues.layer(), Domains.layer.pipe(Layer.provide([RawStore.layerMemory, Queues.settings()]))).pipe(
    Layer.provideMerge(TestDatabase.layer),
    Layer.provideMerge(Logger.layer([]))
  ),
  {
    excludeTestServices: true
  }
)("DeliveryQueue", (it) => {
  it.effect("holds only deliveries written while their webhook was being removed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* DeliveryQueue
      const { domain, ids } = yield* onlyMine(2)
      const served = yield* Deliveries.domain(url)
      const asked = yield* Deliveries.domain(null)
      yield* sql`UPDATE webhooks SET url = NULL, action = 'pull' WHERE id = ${asked.id}`
      const others = [...(yield* Deliveries.pending(served.id, 1)), ...(yield* Deliveries.pending(asked.id, 1))]
      yield* sql`UPDATE webhooks SET url = NULL, action = 'hold' WHERE id = ${domain.id}`
      yield* queue.holdUnserved
      const statusOf = (of: ReadonlyArray<string>) =>
        Effect.map(
          sql<{ readonly status: string }>`SELECT status FROM deliveries WHERE event_id = ANY(${of}::uuid[])`,
          (rows) => rows.map(({ status }) => status)
        )
      assert.deepStrictEqual(yield* statusOf(ids), ["held", "held"])
      assert.deepStrictEqual(yield* statusOf(others), ["pending", "pending"])
    })
  )

  it.effect("holds 512 deliveries of a webhook at once when its URL is cleared, and the others in steps", () =>
    Effect.gen(function* () {
      const queue = yield* DeliveryQueue
      const { clear, count, domain } = yield* much
      const [leased] = yield* Queues.claimUpTo(1)
      yield* clear
      assert.deepStrictEqual(yield* count, { held: 512, pending: 2_488 })
      // Nothing is posted until then, and the attempt in progress counts.
      assert.deepStrictEqual(yield* Queues.claimUpTo(100), [])
      assert.strictEqual(yield* claimedUrl(leased), url)
      if (leased !== undefined) yield* Queues.settle(leased, Queues.answered(200))
      yield* queue.holdUnserved
      assert.deepStrictEqual(yield* count, { delivered: 1, held: 2_999 })
      yield* (yield* Domains).setWebhook(domain, url)
      assert.deepStrictEqual(yield* Queues.claimUpTo(100), [])
    })
  )

  it.effect("holds the others of a removed webhook in steps", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const queue = yield* DeliveryQueue
      const { clear, count, domain } = yield* much
      yield* clear
      yield* sql`DELETE FROM webhooks WHERE id = ${domain.id}`
      assert.deepStrictEqual(yield* count, { held: 512, pending: 2_488 })
      assert.deepStrictEqual(yield* Queues.claimUpTo(100), [])
      yield* queue.holdUnserved
      assert.deepStrictEqual(yield* count, { held: 3_000 })
    })
  )

  it.effect("sends the others to a URL that is set before they are held", () =>
    Effect.gen(function* () {
      const queue = yield* DeliveryQueue
      const { clear, count, domain } = yield* much
      yield* clear
      const again = "http://again.example/inbound"
      yield* (yield* Domains).setWebhook(domain, again)
      yield* queue.holdUnserved
      assert.deepStrictEqual(yield* count, { held: 512, pending: 2_488 })
      const claimed = yield* Queues.claimUpTo(100)
      assert.lengthOf(claimed, 100)
      assert.deepStrictEqual(new Set(claimed.map((delivery) => delivery.url)), new Set([again]))
    })
  )

  it.effect("claims due deliveries with all request data, oldest first", () =>
    Effect.gen(function* () {
      const { domain, ids } = yield* onlyMine(5)
      const claimed = yield* Queues.claimUpTo(3)
      assert.sameMembers(
        claimed.map(({ eventId }) => eventId),
        ids.slice(0, 3)
      )
      for (const delivery of claimed) {
        assert.deepInclude(delivery, { domainId: domain.id, attempt: 1, attemptOfBudget: 1, url })
        assert.strictEqual(JSON.parse(Buffer.from(delivery.payload).toString()).event_id, delivery.eventId)
        // Nothing else that the database sent stays in memory during the request.
        assert.strictEqual(delivery.payload.buffer.byteLength, delivery.payload.byteLength)
        assert.strictEqual(Redacted.value(delivery.secrets.current), Redacted.value(domain.signingSecret))
        assert.isUndefined(delivery.secrets.previous)
      }
    })
  )

  it.effect("claims each delivery once for concurrent workers", () =>
    Effect.gen(function* () {
      const { ids } = yield* onlyMine(60)
      const rounds = yield* Effect.replicateEffect(Queues.claimUpTo(10), 12, { concurrency: "unbounded" })
      const claimed = rounds.flat().map(({ eventId }) => eventId)
      assert.lengthOf(claimed, new Set(claimed).size)
      // A concurrent claim may get fewer deliveries, but never those of another.
      const rest = (yield* Queues.claimUpTo(1_000)).map(({ eventId }) => eventId)
      assert.sameMembers([...claimed, ...rest], ids)
    })
  )

  it.effect("keeps a lease for 60 s", () =>
    Effect.gen(function* () {
      const { id } = yield* one()
      assert.closeTo((yield* Deliveries.delivery(id)).leasedFor ?? Number.NaN, 60, 5)
      yield* Deliveries.pass("50 seconds")
      assert.deepStrictEqual(yield* Queues.claimUpTo(10), [])
    })
  )

  it.effect("keeps a lease for WEBHOOK_TIMEOUT plus 30 s if that is longer", () =>
    Effect.gen(function* () {
      const { id } = yield* one({ WEBHOOK_TIMEOUT: "90s" })
      assert.closeTo((yield* Deliveries.delivery(id)).leasedFor ?? Number.NaN, 120, 5)
    })
  )

  it.effect("claims as many of a domain as its free concurrency", () =>
    Effect.gen(function* () {
      const { domain: first } = yield* onlyMine(20)
      const second = yield* Deliveries.domain(url)
      yield* Deliveries.pending(second.id, 20)

      const claimed = yield* Queues.claimUpTo(100, { perWebhook: 5, busy: new Map([[first.id, 3]]) })
      const of = (domainId: DomainId) => claimed.filter((delivery) => delivery.domainId === domainId).length
      assert.strictEqual(of(first.id), 2)
      assert.strictEqual(of(second.id), 5)
      const none = yield* Queues.claimUpTo(100, {
        perWebhook: 5,
        busy: new Map([
          [first.id, 5],
          [second.id, 9]
        ])
      })
      assert.deepStrictEqual(none, [])
    })
  )

  it.effect("reads only payloads that fit in memory, and at least one", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { ids } = yield* onlyMine(5)
      yield* sql`UPDATE events SET payload = repeat('x', 100000) WHERE id = ANY(${ids}::uuid[])`
      const some = yield* Queues.claimUpTo(10, { mostBytes: 250_000 })
      assert.deepStrictEqual(
        some.map(({ eventId }) => eventId),
        ids.slice(0, 3)
      )
      assert.lengthOf(yield* Queues.claimUpTo(10, { mostBytes: 1 }), 1)
    })
  )

  it.effect("finds a domain's delivery behind hundreds of a saturated domain", () =>
    Effect.gen(function* () {
      const { domain: hung } = yield* onlyMine(500)
      const healthy = yield* Deliveries.domain(url)
      const [id] = yield* Deliveries.pending(healthy.id, 1)
      const claimed = yield* Queues.claimUpTo(8, { perWebhook: 16, busy: new Map([[hung.id, 16]]) })
      assert.deepStrictEqual(
        claimed.map(({ eventId }) => eventId),
        id === undefined ? [] : [id]
      )
    })
  )

  it.effect("skips deliveries that are not due, disabled or without a webhook", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domain } = yield* onlyMine(1)
      yield* sql`UPDATE deliveries SET due_at = now() + interval '1 second'`
      assert.deepStrictEqual(yield* Queues.claimUpTo(10), [])

      yield* sql`UPDATE deliveries SET due_at = now()`
      yield* sql`UPDATE domains SET status_before = status, status = 'disabled' WHERE id = ${domain.id}`
      assert.deepStrictEqual(yield* Queues.claimUpTo(10), [])

      yield* sql`UPDATE domains SET status = status_before, status_before = NULL WHERE id = ${domain.id}`
      yield* Deliveries.target(domain.id, null)
      assert.deepStrictEqual(yield* Queues.claimUpTo(10), [])

      yield* sql`UPDATE webhooks SET action = 'webhook', url = ${url} WHERE id = ${domain.id}`
      assert.lengthOf(yield* Queues.claimUpTo(10), 1)
    })
  )

  it.effect("records a success: delivered, attempt listed, domain live", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { claimed, domain, id } = yield* one()
      yield* Queues.settle(claimed, Queues.answered(204))

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
      assert.deepStrictEqual(yield* Queues.claimUpTo(10), [])
    })
  )

  it.effect("records a failure: due again after the first delay, domain not live", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { claimed, domain, id } = yield* one()
      yield* Queues.settle(claimed, Queues.answered(500))

      const delivery = yield* Deliveries.delivery(id)
      assert.deepInclude(delivery, { status: "pending", attempts: 1, leasedFor: null, deliveredAt: null })
      assert.strictEqual(delivery.lastError, "the webhook answered 500")
      assert.isAbove(delivery.dueIn, 0)
      assert.isAtMost(delivery.dueIn, 6)
      const rows = yield* sql<{ readonly status: string }>`SELECT status FROM domains WHERE id = ${domain.id}`
      assert.strictEqual(rows[0]?.status, "mx_pending")
      assert.deepStrictEqual(yield* Queues.claimUpTo(10), [])
      yield* Deliveries.pass("6 seconds")
      const [again] = yield* Queues.claimUpTo(10)
      assert.deepInclude(again, { eventId: id, attempt: 2, attemptOfBudget: 2 })
    })
  )

  it.effect("increases the delay after each failure and gives up after the eleventh", () =>
    Effect.gen(function* () {
      const { ids } = yield* onlyMine(1)
      const [id] = ids
      if (id === undefined) return assert.fail("no delivery")
      const waits: Array<number> = []
      for (const attempt of Array.range(1, 11)) {
        const [claimed] = yield* Queues.claimUpTo(1)
        if (claimed === undefined) return assert.fail(`attempt ${attempt} was not due`)
        assert.strictEqual(claimed.attempt, attempt)
        yield* Queues.settle(claimed, Queues.answered(500))
        const { dueIn, status } = yield* Deliveries.delivery(id)
        assert.strictEqual(status, attempt === 11 ? "dead" : "pending")
        waits.push(dueIn)
        yield* Deliveries.pass(`${Math.ceil(dueIn)} seconds`)
      }
      const documented = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
      documented.forEach((wait, index) => {
        assert.isAtLeast(waits[index] ?? Number.NaN, wait * 0.8 - 2)
        assert.isAtMost(waits[index] ?? Number.NaN, wait * 1.2)
      })
      assert.deepStrictEqual(yield* Queues.claimUpTo(10), [])
      const listed = yield* Deliveries.attempts(id)
      assert.deepStrictEqual(
        listed.map(({ attempt }) => attempt),
        Array.range(1, 11)
      )
      assert.strictEqual((yield* Deliveries.delivery(id)).lastError, "the webhook answered 500")
    })
  )

  it.effect("gives up after a 410, and counts the dead letter", () =>
    Effect.gen(function* () {
      const { claimed, id } = yield* one()
      const before = yield* deadLetters
      yield* Queues.settle(claimed, Queues.answered(410))
      assert.strictEqual(yield* deadLetters, before + 1)
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
    it.effect(`honors Retry-After ${says}`, () =>
      Effect.gen(function* () {
        const { claimed, id } = yield* one()
        yield* Queues.settle(claimed, Queues.answered(status, yield* asked))
        const { dueIn, status: state } = yield* Deliveries.delivery(id)
        assert.strictEqual(state, "pending")
        assert.isAtLeast(dueIn, waits[0] - 1.5)
        assert.isAtMost(dueIn, waits[1])
      })
    )
  }

  it.effect("makes no attempt beyond the last, whatever Retry-After says", () =>
    Effect.gen(function* () {
      const { claimed, id } = yield* one()
      yield* Queues.settle({ ...claimed, attemptOfBudget: 11 }, Queues.answered(503, "60"))
      assert.strictEqual((yield* Deliveries.delivery(id)).status, "dead")
    })
  )

  it.effect("claims an expired lease for another worker and lists the lost attempt", () =>
    Effect.gen(function* () {
      const { id } = yield* one()
      yield* Deliveries.pass("61 seconds")
      const [taken] = yield* Queues.claimUpTo(1).pipe(Effect.provide(Queues.layer()))
      assert.deepInclude(taken, { eventId: id, attempt: 2, attemptOfBudget: 2 })
      assert.deepStrictEqual(yield* Deliveries.attempts(id), [
        { attempt: 1, ok: false, statusCode: null, error: "the worker stopped before it knew the answer", url }
      ])
    })
  )

  for (const outcome of [Queues.answered(200), Queues.answered(500), Queues.answered(410)]) {
    it.effect(`ignores a late ${outcome.statusCode} of a worker without the lease`, () =>
      Effect.gen(function* () {
        const { claimed: lost, id } = yield* one()
        yield* Deliveries.pass("61 seconds")
        const [taken] = yield* Queues.claimUpTo(1)
        if (taken === undefined) return assert.fail("the lease was not taken over")
        const before = yield* Deliveries.delivery(id)
        const dead = yield* deadLetters

        yield* Queues.settle(lost, outcome)
        assert.strictEqual(yield* deadLetters, dead)
        const { dueIn: _, leasedFor, ...after } = yield* Deliveries.delivery(id)
        assert.deepInclude(before, after)
        assert.closeTo(leasedFor ?? Number.NaN, 60, 5)
        // The outcome of the lost attempt is still recorded.
        assert.deepInclude((yield* Deliveries.attempts(id))[0], { attempt: 1, statusCode: outcome.statusCode })

        yield* Queues.settle(taken, Queues.answered(200))
        assert.deepInclude(yield* Deliveries.delivery(id), { status: "delivered", attempts: 2 })
      })
    )
  }

  it.effect("claims a returned delivery at once, as the same attempt", () =>
    Effect.gen(function* () {
      const queue = yield* DeliveryQueue
      const { claimed, id } = yield* one()
      yield* queue.giveBack([claimed])
      assert.deepInclude(yield* Deliveries.delivery(id), { status: "pending", attempts: 0, leasedFor: null })
      const [again] = yield* Queues.claimUpTo(1)
      assert.deepInclude(again, { eventId: id, attempt: 1, attemptOfBudget: 1 })
      assert.deepStrictEqual(yield* Deliveries.attempts(id), [])
    })
  )

  it.effect("ignores a return by a worker without the lease", () =>
    Effect.gen(function* () {
      const queue = yield* DeliveryQueue
      const { claimed: lost, id } = yield* one()
      yield* Deliveries.pass("61 seconds")
      const taken = yield* Queues.claimUpTo(1)
      assert.lengthOf(taken, 1)
      yield* queue.giveBack([lost])
      assert.deepInclude(yield* Deliveries.delivery(id), { status: "pending", attempts: 2 })
      assert.deepStrictEqual(yield* Queues.claimUpTo(1), [])
    })
  )

  it.effect("records start and URL of a lost attempt, also after the URL has changed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const domains = yield* Domains
      const { domain, id } = yield* one()
      yield* domains.setWebhook({ workspaceId: domain.workspaceId, id: domain.id }, `${url}/second`)
      yield* domains.setWebhook({ workspaceId: domain.workspaceId, id: domain.id }, `${url}/third`)
      // A restart of the embedded database releases the lease early.
      yield* sql`UPDATE deliveries SET leased_until = now(), claimed_at = now() - interval '7 seconds'`
      yield* Queues.claimUpTo(1)
      const rows = yield* sql<{ readonly url: string; readonly age: number }>`
        SELECT url, extract(epoch FROM now() - requested_at)::float8 AS age FROM delivery_attempts WHERE event_id = ${id}
      `
      assert.deepStrictEqual(
        rows.map(({ url }) => url),
        [url]
      )
      assert.closeTo(rows[0]?.age ?? Number.NaN, 7, 2)

      yield* Deliveries.pass("61 seconds")
      yield* Queues.claimUpTo(1)
      assert.deepStrictEqual(
        (yield* Deliveries.attempts(id)).map(({ url }) => url),
        [url, `${url}/third`]
      )
    })
  )

  it.effect("delays a delivery after three lost workers, and gives up if that continues", () =>
    Effect.gen(function* () {
      const { ids } = yield* onlyMine(1)
      const [id] = ids
      if (id === undefined) return assert.fail("no delivery")
      for (const attempt of [1, 2, 3]) assert.deepInclude(yield* lose(), { attempt })
      assert.deepStrictEqual(yield* Queues.claimUpTo(10), [])
      const waiting = yield* Deliveries.delivery(id)
      assert.deepInclude(waiting, {
        status: "pending",
        attempts: 3,
        leasedFor: null,
        lastError: "3 workers stopped before they knew the answer"
      })
      assert.closeTo(waiting.dueIn, 300, 61)

      for (const attempt of Array.range(4, 11)) {
        yield* Deliveries.pass("2 days")
        assert.deepInclude(yield* lose(), { attempt })
        assert.deepStrictEqual(yield* Queues.claimUpTo(10), [])
      }
      assert.deepInclude(yield* Deliveries.delivery(id), {
        status: "dead",
        attempts: 11,
        lastError: "11 workers stopped before they knew the answer"
      })
      assert.lengthOf(yield* Deliveries.attempts(id), 11)
    })
  )

  it.effect("claims other deliveries beside one that cannot be signed, which counts as failed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domain, ids } = yield* onlyMine(1)
      const sound = yield* Deliveries.domain(url)
      const [well] = yield* Deliveries.pending(sound.id, 1)
      yield* sql`UPDATE workspaces SET signing_secret = 'tampered with'::bytea WHERE id = ${domain.workspaceId}`
      const claimed = yield* Queues.claimUpTo(10)
      assert.deepStrictEqual(
        claimed.map(({ eventId }) => eventId),
        well === undefined ? [] : [well]
      )
      const [broken] = ids
      if (broken === undefined) return assert.fail("no delivery")
      const delivery = yield* Deliveries.delivery(broken)
      assert.deepInclude(delivery, {
        status: "pending",
        attempts: 1,
        leasedFor: null,
        lastError: "the signing secret can't be opened"
      })
      assert.isAbove(delivery.dueIn, 0)
      assert.isBelow(delivery.dueIn, 7)
    })
  )

  it.effect("stores any error text of a webhook", () =>
    Effect.gen(function* () {
      const { claimed, id } = yield* one()
      const error = `no valid answer (\u0000\ud800${"x".repeat(100_000)})`
      yield* Queues.settle(claimed, { ...Queues.answered(500), statusCode: null, error })
      const { lastError } = yield* Deliveries.delivery(id)
      assert.match(lastError ?? "", /^no valid answer \(\ufffdx{900,}$/)
    })
  )

  for (const minutes of [-10, 10]) {
    it.effect(`uses the clock of the database if its own is off by ${minutes} minutes`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { ids } = yield* onlyMine(1)
        const [id] = ids
        if (id === undefined) return assert.fail("no delivery")
        yield* sql`UPDATE deliveries SET due_at = now() + interval '5 minutes'`
        assert.deepStrictEqual(yield* withClockOff(minutes)(Queues.claimUpTo(1)), [])

        yield* sql`UPDATE deliveries SET due_at = now()`
        const [claimed] = yield* withClockOff(minutes)(Queues.claimUpTo(1))
        if (claimed === undefined) return assert.fail("nothing to claim")
        assert.closeTo((yield* Deliveries.delivery(id)).leasedFor ?? Number.NaN, 60, 5)
        assert.deepStrictEqual(yield* Queues.claimUpTo(1), [])

        yield* withClockOff(minutes)(Queues.settle(claimed, Queues.answered(500)))
        const { dueIn } = yield* Deliveries.delivery(id)
        assert.isAbove(dueIn, 0)
        assert.isBelow(dueIn, 7)
      })
    )
  }

  it.effect("reports the age of the oldest due delivery, for webhooks and for pull delivery", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { oldestDueSeconds } = yield* DeliveryQueue
      const { domain } = yield* onlyMine(2)
      yield* Deliveries.pass("10 minutes")
      const posted = yield* oldestDueSeconds
      assert.closeTo(posted.toPost, 660, 5)
      assert.strictEqual(posted.toTake, 0)
      yield* sql`UPDATE webhooks SET url = NULL, action = 'pull' WHERE id = ${domain.id}`
      const taken = yield* oldestDueSeconds
      assert.closeTo(taken.toTake, 660, 5)
      assert.strictEqual(taken.toPost, 0)
      yield* sql`UPDATE deliveries SET leased_until = now() + interval '1 minute' WHERE domain_id = ${domain.id}`
      assert.strictEqual((yield* oldestDueSeconds).toTake, 0)
      yield* sql`UPDATE deliveries SET leased_until = NULL WHERE domain_id = ${domain.id}`
      yield* sql`UPDATE domains SET status_before = status, status = 'disabled' WHERE id = ${domain.id}`
      assert.deepStrictEqual(yield* oldestDueSeconds, { toPost: 0, toTake: 0 })
    })
  )
})
