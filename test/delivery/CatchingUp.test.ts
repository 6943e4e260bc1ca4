import { assert, layer } from "@effect/vitest"
import { Array, Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import * as CatchingUp from "../../src/delivery/CatchingUp.ts"
import { DeliveryQueue } from "../../src/delivery/DeliveryQueue.ts"
import * as Pausing from "../../src/delivery/Pausing.ts"
import { DomainId } from "../../src/model/Domain.ts"
import type { EventId } from "../../src/model/InboundEvent.ts"
import { catchAllOf } from "../../src/model/Webhook.ts"
import { eventually } from "../Eventually.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"
import * as Deliveries from "./Deliveries.ts"
import * as Queues from "./Queues.ts"

const url = "http://hooks.example/inbound"

const step = Effect.flatMap(SqlClient.SqlClient, CatchingUp.step)

/** A domain whose deliveries all failed once and wait for their second attempt. The oldest position comes last. */
const afterOutage = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const { id } = yield* Deliveries.domain(url)
  const ids = yield* Deliveries.pending(id, count)
  yield* sql`
    UPDATE deliveries SET attempts = 6, claimed_at = now() - interval '2 hours',
      due_at = now() + interval '8 hours' - make_interval(secs => position)
    WHERE domain_id = ${id}
  `
  yield* sql`
    UPDATE webhooks SET failing_since = now() - interval '3 hours', failures = 9 WHERE id = ${id}
  `
  return { id, ids }
})

/** New mail of the domain, which the webhook answers with this status. */
const mail = Effect.fnUntraced(function* (id: DomainId, status: number) {
  const [event] = yield* Deliveries.pending(id, 1)
  const [claimed] = yield* claimUpTo(id)
  assert.strictEqual(claimed?.eventId, event)
  if (claimed !== undefined) yield* Queues.settle(claimed, Queues.answered(status))
  return event
})

const claimUpTo = (id: DomainId, most = 1_000) =>
  Effect.flatMap(DeliveryQueue, (queue) => queue.claim(new Map([[catchAllOf(id), most]]), 100_000_000))

/** Lets a second pass for the next step. */
const second = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE webhooks SET recovering_at = recovering_at - interval '1 second'`
)

/** Takes a step, and answers everything due. Returns the events in the order of their requests. */
const round = Effect.fnUntraced(function* (id: DomainId, status: (event: EventId) => number = () => 200) {
  yield* step
  const all = yield* claimUpTo(id)
  yield* Effect.forEach(all, (one) => Queues.settle(one, Queues.answered(status(one.eventId))))
  yield* second
  return all.map(({ eventId }) => eventId)
})

const isRecovering = Effect.fnUntraced(function* (id: DomainId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly isRecovering: boolean }>`
    SELECT recovering_at IS NOT NULL AS is_recovering FROM webhooks WHERE id = ${id}
  `
  return row?.isRecovering
})

layer(Queues.layer().pipe(Layer.provideMerge(TestDatabase.layer), Layer.provideMerge(Logger.layer([]))), {
  excludeTestServices: true
})("A webhook that succeeds after failures", (it) => {
  it.effect("gets its waiting retries at once, oldest first, in steps of two, four, eight and so on", () =>
    Effect.gen(function* () {
      const { id, ids } = yield* afterOutage(100)
      assert.deepStrictEqual(yield* round(id), [])
      yield* mail(id, 200)
      const rounds: Array<ReadonlyArray<EventId>> = []
      while (yield* isRecovering(id)) rounds.push(yield* round(id))
      assert.deepStrictEqual(
        rounds.map(({ length }) => length),
        [2, 4, 8, 16, 32, 38]
      )
      assert.deepStrictEqual(rounds.flat(), ids)
    })
  )

  it.effect("gets no more at once while it has not answered most of a step", () =>
    Effect.gen(function* () {
      const { id } = yield* afterOutage(100)
      yield* mail(id, 200)
      for (const _ of Array.range(1, 3)) yield* round(id)
      yield* step
      assert.lengthOf(yield* claimUpTo(id), 16)
      yield* second
      yield* step
      assert.deepStrictEqual(yield* claimUpTo(id), [])
      assert.isTrue(yield* isRecovering(id))
    })
  )

  it.effect("moves no delivery of another domain", () =>
    Effect.gen(function* () {
      const other = yield* afterOutage(3)
      const { id } = yield* afterOutage(3)
      yield* mail(id, 200)
      assert.lengthOf(yield* round(id), 2)
      for (const event of other.ids) assert.isAbove((yield* Deliveries.delivery(event)).dueIn, 3_600)
    })
  )

  it.effect("gets the rest on schedule after the next failure, and goes on after the next success", () =>
    Effect.gen(function* () {
      const { id, ids } = yield* afterOutage(20)
      yield* mail(id, 200)
      assert.lengthOf(yield* round(id), 2)
      assert.lengthOf(yield* round(id, () => 500), 4)
      assert.isFalse(yield* isRecovering(id))
      assert.deepStrictEqual(yield* round(id), [])
      yield* mail(id, 200)
      const rest: Array<EventId> = []
      while (yield* isRecovering(id)) rest.push(...(yield* round(id)))
      assert.deepStrictEqual(rest, ids.slice(6))
    })
  )

  it.effect("puts a delivery that fails early back to its schedule, without an attempt of its budget", () =>
    Effect.gen(function* () {
      const { id, ids } = yield* afterOutage(1)
      const [event] = ids
      if (event === undefined) return assert.fail("no delivery")
      const before = yield* Deliveries.delivery(event)
      yield* mail(id, 200)
      yield* step
      const [early] = yield* claimUpTo(id)
      if (early === undefined) return assert.fail("nothing was brought forward")
      // The last attempt of the schedule would be dead after this.
      yield* Queues.settle({ ...early, attemptOfBudget: 11 }, Queues.answered(500))
      const after = yield* Deliveries.delivery(event)
      assert.deepInclude(after, { status: "pending", attempts: 7 })
      assert.closeTo(after.dueIn, before.dueIn, 10)
      yield* Deliveries.pass("8 hours")
      const [onSchedule] = yield* claimUpTo(id)
      assert.deepInclude(onSchedule, { eventId: event, attempt: 8, attemptOfBudget: 7 })
    })
  )

  it.effect("that alternates between success and failure costs each delivery one early attempt, and one an hour", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id, ids } = yield* afterOutage(10)
      const alternate = Effect.gen(function* () {
        yield* mail(id, 200)
        yield* round(id, () => 500)
        const failed = yield* mail(id, 500)
        yield* sql`DELETE FROM deliveries WHERE event_id = ${failed ?? null}`
      })
      const attempts = Effect.map(Effect.forEach(ids, Deliveries.delivery), (all) =>
        all.map(({ attempts }) => attempts)
      )
      for (const _ of Array.range(1, 60)) yield* alternate
      assert.deepStrictEqual(
        yield* attempts,
        ids.map(() => 7)
      )
      yield* Deliveries.pass("61 minutes")
      for (const _ of Array.range(1, 60)) yield* alternate
      assert.deepStrictEqual(
        yield* attempts,
        ids.map(() => 8)
      )
    })
  )

  it.effect("gets a delivery not before the time that its Retry-After asked for", () =>
    Effect.gen(function* () {
      const { id, ids } = yield* afterOutage(1)
      const [event] = ids
      if (event === undefined) return assert.fail("no delivery")
      yield* Deliveries.pass("8 hours")
      const [claimed] = yield* claimUpTo(id)
      if (claimed === undefined) return assert.fail("nothing is due")
      yield* Queues.settle(claimed, Queues.answered(503, "3000"))
      yield* mail(id, 200)
      assert.deepStrictEqual(yield* round(id), [])
      assert.isAbove((yield* Deliveries.delivery(event)).dueIn, 2_900)
    })
  )

  it.effect("gets no delivery early that has failed since, while the failure is not counted yet", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* Deliveries.domain(url)
      const event = yield* mail(id, 500)
      assert.isDefined(event)
      assert.isAbove((yield* Deliveries.delivery(event)).dueIn, 0)
      yield* Deliveries.postpone(event, "1 hour")
      yield* sql`UPDATE webhooks SET recovering_at = now() - interval '1 minute' WHERE id = ${id}`
      yield* step
      assert.isAbove((yield* Deliveries.delivery(event)).dueIn, 3_000)
    })
  )

  it.effect("gets nothing while its domain is disabled or its webhook is paused", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* afterOutage(3)
      yield* mail(id, 200)
      yield* sql`UPDATE domains SET status_before = status, status = 'disabled' WHERE id = ${id}`
      yield* step
      assert.deepStrictEqual(yield* claimUpTo(id), [])
      yield* sql`UPDATE domains SET status = status_before, status_before = NULL WHERE id = ${id}`
      yield* step
      assert.lengthOf(yield* claimUpTo(id), 2)
    })
  )

  it.effect("makes 512 waiting deliveries due at once after a pause, and brings the rest forward in steps", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* Deliveries.domain(url)
      yield* Deliveries.backlog(id, 700)
      yield* sql`UPDATE deliveries SET due_at = now() + make_interval(hours => 1) WHERE domain_id = ${id}`
      yield* sql`
        UPDATE webhooks SET failing_since = now() - interval '5 days', paused_at = now(),
          probe_at = now() + interval '1 hour' WHERE id = ${id}
      `
      yield* Pausing.resume(sql, catchAllOf(id))
      assert.isTrue(yield* isRecovering(id))
      const counts: Array<number> = []
      while (yield* isRecovering(id)) counts.push((yield* round(id)).length)
      assert.deepStrictEqual(counts.slice(0, 3), [512, 2, 4])
      assert.strictEqual(
        counts.reduce((sum, count) => sum + count),
        700
      )
    })
  )

  it.effect("reads at most a thousand of its pending deliveries in a step", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* Deliveries.domain(url)
      yield* Deliveries.backlog(id, 2_500)
      // Each was brought forward just now and failed, but for the newest.
      yield* sql`
        UPDATE deliveries SET attempts = 1, claimed_at = now(), due_at = now() + interval '1 hour',
          retry_at = CASE WHEN position < 2500 THEN now() + interval '1 hour' END
        WHERE domain_id = ${id}
      `
      yield* sql`UPDATE webhooks SET recovering_at = now() WHERE id = ${id}`
      const counts: Array<number> = []
      while (yield* isRecovering(id)) counts.push((yield* round(id)).length)
      assert.deepStrictEqual(counts, [0, 0, 1])
    })
  )
})

layer(TestInlet.layer({ WEBHOOK_RETRY_DELAYS: "1h" }).pipe(Layer.provideMerge(WebhookReceiver.layer)), {
  excludeTestServices: true
})("After an outage of a webhook", (it) => {
  it.effect("all waiting mail arrives at a new URL, also beyond the 512 deliveries that are due at once", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* WebhookReceiver
      yield* receiver.answerAlways(200)
      const inbox = yield* inlet.inbox("http://127.0.0.1:9/nobody")
      // No worker finds them before they wait.
      yield* sql`UPDATE webhooks SET paused_at = now(), probe_at = now() + interval '1 hour' WHERE id = ${inbox.domainId}`
      yield* Deliveries.backlog(DomainId.make(inbox.domainId), 520)
      yield* sql`UPDATE deliveries SET due_at = now() + make_interval(hours => 1) WHERE domain_id = ${inbox.domainId}`
      const { status } = yield* inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, {
        key: inbox.key,
        body: { webhookUrl: receiver.url }
      })
      assert.strictEqual(status, 200)
      yield* eventually(
        sql`SELECT 1 FROM deliveries WHERE domain_id = ${inbox.domainId} AND status <> 'delivered'`,
        (rows) => rows.length === 0
      )
    })
  )

  it.effect("all waiting mail arrives within seconds of the first success", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      yield* receiver.answerAlways(503)
      const inbox = yield* inlet.inbox(receiver.url)
      const id = DomainId.make(inbox.domainId)
      const ids = yield* Deliveries.pending(id, 40)
      yield* eventually(Effect.forEach(ids, Deliveries.delivery), (all) => all.every(({ dueIn }) => dueIn > 60))
      yield* receiver.answerAlways(200)
      yield* Deliveries.pending(id, 1)
      yield* eventually(Effect.forEach(ids, Deliveries.delivery), (all) =>
        all.every(({ status }) => status === "delivered")
      )
    })
  )
})
