import type { IncomingMessage, ServerResponse } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Array, Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { DeliveryQueue } from "../../src/delivery/DeliveryQueue.ts"
import * as Pausing from "../../src/delivery/Pausing.ts"
import { DomainId } from "../../src/model/Domain.ts"
import { EventId } from "../../src/model/InboundEvent.ts"
import { catchAllOf } from "../../src/model/Webhook.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"
import * as Deliveries from "./Deliveries.ts"
import * as Queues from "./Queues.ts"

const url = "http://hooks.example/inbound"

const claimProbes = Effect.flatMap(DeliveryQueue, (queue) => queue.claimProbes(10))

/** Claims the one delivery that is due or probed, and fails it. */
const failNext = Effect.fnUntraced(function* (outcome = Queues.answered(500)) {
  const [claimed] = [...(yield* Queues.claimUpTo(1)), ...(yield* claimProbes)]
  if (claimed === undefined) return yield* Effect.die("nothing to fail")
  yield* Queues.settle(claimed, outcome)
  return claimed
})

/** A domain with this many due deliveries, and no others. */
const domainWith = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM domains`
  const { id } = yield* Deliveries.domain(url)
  return { id, ids: yield* Deliveries.pending(id, count) }
})

/** The same with a webhook that failed for five days and is paused. One delivery has two attempts. */
const paused = Effect.fnUntraced(function* (count: number) {
  const { id, ids } = yield* domainWith(count)
  yield* failNext()
  yield* Deliveries.failedOften(id)
  yield* Deliveries.pass("5 days")
  // Restores the order after the first failure.
  const again = yield* Effect.flatMap(DeliveryQueue, (queue) =>
    Effect.tap(Queues.claimUpTo(1_000), (all) =>
      Effect.forEach(all, (claimed) =>
        claimed.attempt === 2 ? Queues.settle(claimed, Queues.answered(500)) : queue.giveBack([claimed])
      )
    )
  )
  assert.lengthOf(again, count)
  assert.isTrue((yield* Deliveries.webhook(id)).paused)
  return { id, ids }
})

/** A separate queue with its log. */
const listening = () => {
  const said: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => void said.push(String([message].flat()[0])))])
  return { said, withQueue: Queues.layer().pipe(Layer.provideMerge(logger)) }
}

const statuses = (ids: ReadonlyArray<EventId>) =>
  Effect.map(Effect.forEach(ids, Deliveries.delivery), (found) => found.map(({ status }) => status))

layer(Queues.layer().pipe(Layer.provideMerge(TestDatabase.layer), Layer.provideMerge(Logger.layer([]))), {
  excludeTestServices: true
})("A webhook", (it) => {
  it.effect("is paused after five days of failures only, and logs it once", () =>
    Effect.gen(function* () {
      const { said, withQueue } = listening()
      const { id } = yield* domainWith(1)
      yield* failNext()
      yield* Deliveries.failedOften(id)
      yield* Deliveries.pass("4 days 23 hours")
      yield* failNext().pipe(Effect.provide(withQueue))
      assert.deepInclude(yield* Deliveries.webhook(id), { failing: true, paused: false })
      assert.deepStrictEqual(said, [])

      yield* Deliveries.pending(id, 3)
      yield* Deliveries.pass("2 hours")
      const claimed = yield* Queues.claimUpTo(10)
      assert.lengthOf(claimed, 4)
      yield* Effect.forEach(claimed, (one) => Queues.settle(one, Queues.answered(503))).pipe(Effect.provide(withQueue))
      const webhook = yield* Deliveries.webhook(id)
      assert.isTrue(webhook.paused)
      assert.closeTo(webhook.probeIn ?? Number.NaN, 3_600, 5)
      assert.deepStrictEqual(said, [
        "Every attempt failed for 5 days, so the webhook is paused. Inlet tries one delivery an hour"
      ])
      yield* Deliveries.pass("50 minutes")
      assert.deepStrictEqual(yield* Queues.claimUpTo(10), [])
      assert.deepStrictEqual(yield* claimProbes, [])
    })
  )

  it.effect("is not paused after fewer than ten failures or on fewer than three UTC days", () =>
    Effect.gen(function* () {
      const { id } = yield* domainWith(20)
      // With a clock that jumps: nine failures, then five days at once.
      for (const _ of Array.range(1, 9)) yield* failNext()
      yield* Deliveries.pass("5 days 1 hour")
      for (const _ of Array.range(1, 3)) yield* failNext()
      assert.deepInclude(yield* Deliveries.webhook(id), { failing: true, paused: false })
      // The third day.
      yield* Deliveries.pass("1 day")
      yield* failNext()
      assert.isTrue((yield* Deliveries.webhook(id)).paused)

      const other = yield* domainWith(20)
      for (const _ of Array.range(1, 8)) {
        yield* failNext()
        yield* Deliveries.pass("1 day")
      }
      assert.deepInclude(yield* Deliveries.webhook(other.id), { failing: true, paused: false })
      yield* failNext()
      yield* failNext()
      assert.isTrue((yield* Deliveries.webhook(other.id)).paused)
    })
  )

  it.effect("is not paused after a success in these days", () =>
    Effect.gen(function* () {
      const { id } = yield* domainWith(2)
      yield* failNext()
      yield* Deliveries.pass("4 days")
      yield* failNext(Queues.answered(200))
      assert.deepInclude(yield* Deliveries.webhook(id), { failing: false, paused: false })
      yield* failNext()
      yield* Deliveries.pass("2 days")
      yield* failNext()
      assert.deepInclude(yield* Deliveries.webhook(id), { failing: true, paused: false })
    })
  )

  it.effect("that is paused is probed once an hour, each time with another delivery", () =>
    Effect.gen(function* () {
      const { id, ids } = yield* paused(3)
      const tried: Array<EventId> = []
      for (const _ of Array.range(1, 4)) {
        yield* Deliveries.pass("1 hour")
        const rounds = yield* Effect.all(
          Array.range(1, 6).map(() => claimProbes),
          { concurrency: "unbounded" }
        )
        const claimed = rounds.flat()
        assert.lengthOf(claimed, 1)
        assert.deepStrictEqual(yield* Queues.claimUpTo(10), [])
        for (const probe of claimed) {
          tried.push(probe.eventId)
          yield* Queues.settle(probe, Queues.answered(500))
        }
        yield* Deliveries.pass("59 minutes")
        assert.deepStrictEqual(yield* claimProbes, [])
        yield* Deliveries.pass("-59 minutes")
      }
      assert.sameMembers(tried.slice(0, 3), ids)
      assert.isTrue((yield* Deliveries.webhook(id)).paused)
    })
  )

  it.effect("that is paused consumes no retry budget, and its probes are listed and numbered", () =>
    Effect.gen(function* () {
      const {
        id,
        ids: [event]
      } = yield* paused(1)
      if (event === undefined) return assert.fail("no delivery")
      for (const _ of Array.range(1, 20)) {
        yield* Deliveries.pass("1 hour")
        yield* failNext()
      }
      assert.deepInclude(yield* Deliveries.delivery(event), { status: "pending", attempts: 22 })
      assert.deepStrictEqual(
        (yield* Deliveries.attempts(event)).map(({ attempt }) => attempt),
        Array.range(1, 22)
      )

      yield* Effect.flatMap(SqlClient.SqlClient, (sql) => Pausing.resume(sql, catchAllOf(id)))
      assert.deepInclude((yield* Queues.claimUpTo(1))[0], { domainId: id, attempt: 23, attemptOfBudget: 3 })
    })
  )

  it.effect("that is paused consumes no budget of attempts in progress", () =>
    Effect.gen(function* () {
      const { id, ids } = yield* domainWith(12)
      yield* failNext()
      yield* Deliveries.failedOften(id)
      yield* Deliveries.pass("5 days")
      const claimed = yield* Queues.claimUpTo(20)
      assert.lengthOf(claimed, 12)
      yield* Effect.forEach(claimed, (one) => Queues.settle({ ...one, attemptOfBudget: 11 }, Queues.answered(500)))
      assert.isTrue((yield* Deliveries.webhook(id)).paused)
      // The delivery with the last failure before the pause has used its retry budget.
      const found = yield* statuses(ids)
      assert.lengthOf(
        found.filter((status) => status === "dead"),
        1
      )
      assert.lengthOf(
        found.filter((status) => status === "pending"),
        11
      )
    })
  )

  it.effect("whose new URL was saved by a process that stopped is resumed by the first success", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* paused(3)
      yield* Deliveries.pass("1 hour")
      yield* sql`UPDATE webhooks SET failing_since = NULL WHERE id = ${id}`
      const [probe] = yield* claimProbes
      if (probe === undefined) return assert.fail("nothing was tried")
      yield* Queues.settle(probe, Queues.answered(200))
      assert.isFalse((yield* Deliveries.webhook(id)).paused)
      assert.lengthOf(yield* Queues.claimUpTo(10), 2)
    })
  )

  it.effect("that is paused is resumed by the first success, oldest delivery first, at the usual concurrency", () =>
    Effect.gen(function* () {
      const { said, withQueue } = listening()
      const { id, ids } = yield* paused(40)
      yield* Deliveries.pass("1 hour")
      const [probe] = yield* claimProbes
      if (probe === undefined) return assert.fail("nothing was tried")
      yield* Queues.settle(probe, Queues.answered(200)).pipe(Effect.provide(withQueue))

      assert.deepStrictEqual(yield* Deliveries.webhook(id), { failing: false, paused: false, probeIn: null })
      assert.deepStrictEqual(said, ["A paused webhook was resumed. All its deliveries follow"])
      const sql = yield* SqlClient.SqlClient
      const changes = yield* sql`SELECT change FROM domain_changes WHERE domain_id = ${id} ORDER BY id`
      assert.deepStrictEqual(changes, [{ change: "paused" }, { change: "resumed" }])
      const claimed = yield* Queues.claimUpTo(64, { perWebhook: 16 })
      assert.lengthOf(claimed, 16)
      assert.deepStrictEqual(yield* Queues.claimUpTo(64, { perWebhook: 16, busy: new Map([[id, 16]]) }), [])
      const rest = yield* Queues.claimUpTo(64)
      assert.sameMembers(
        [probe, ...claimed, ...rest].map(({ eventId }) => eventId),
        ids
      )
    })
  )

  it.effect("that is paused loses only the probed delivery to a 410", () =>
    Effect.gen(function* () {
      const { id, ids } = yield* paused(3)
      yield* Deliveries.pass("1 hour")
      const { eventId } = yield* failNext(Queues.answered(410))
      assert.strictEqual((yield* Deliveries.delivery(eventId)).status, "dead")
      assert.deepStrictEqual(yield* statuses(ids.filter((one) => one !== eventId)), ["pending", "pending"])
      assert.isTrue((yield* Deliveries.webhook(id)).paused)
    })
  )

  it.effect("that is paused is probed later if Retry-After exceeds an hour", () =>
    Effect.gen(function* () {
      const { id } = yield* paused(1)
      yield* Deliveries.pass("1 hour")
      yield* failNext(Queues.answered(503, "7200"))
      assert.closeTo((yield* Deliveries.webhook(id)).probeIn ?? Number.NaN, 7_200, 5)
    })
  )

  it.effect("that is paused is probed with the first new mail after an hour without deliveries", () =>
    Effect.gen(function* () {
      const { id } = yield* paused(1)
      yield* Deliveries.pass("1 hour")
      yield* failNext(Queues.answered(410))
      yield* Deliveries.pass("1 hour")
      assert.deepStrictEqual(yield* claimProbes, [])
      const [event] = yield* Deliveries.pending(id, 1)
      assert.strictEqual((yield* claimProbes)[0]?.eventId, event)
    })
  )

  it.effect("that is paused delays no other domain, and is not probed while its domain is disabled", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* paused(3)
      const other = yield* Deliveries.domain(url)
      const [event] = yield* Deliveries.pending(other.id, 1)
      yield* Deliveries.pass("1 hour")
      const claimed = yield* Queues.claimUpTo(10)
      assert.deepStrictEqual(
        claimed.map(({ eventId }) => eventId),
        event === undefined ? [] : [event]
      )
      yield* sql`UPDATE domains SET status_before = status, status = 'disabled' WHERE id = ${id}`
      assert.deepStrictEqual(yield* claimProbes, [])
      yield* sql`UPDATE domains SET status = status_before, status_before = NULL WHERE id = ${id}`
      assert.lengthOf(yield* claimProbes, 1)
    })
  )

  it.effect("with a new URL is not charged for a failure of the old URL, and the next attempt is due at once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const {
        id,
        ids: [event]
      } = yield* domainWith(1)
      const [claimed] = yield* Queues.claimUpTo(1)
      if (event === undefined || claimed === undefined) return assert.fail("nothing to claim")
      yield* sql`UPDATE webhooks SET action = 'webhook', url = ${`${url}/new`} WHERE id = ${id}`
      yield* Queues.settle(claimed, Queues.answered(410))
      assert.deepInclude(yield* Deliveries.webhook(id), { failing: false })
      assert.deepInclude((yield* Queues.claimUpTo(1))[0], {
        eventId: event,
        attempt: 2,
        attemptOfBudget: 1,
        url: `${url}/new`
      })
    })
  )
})

const pausedInbox = Effect.fnUntraced(function* (receiver: WebhookReceiver["Service"], mails: number) {
  const inlet = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  yield* receiver.answerAlways(500)
  const inbox = yield* inlet.inbox(receiver.url)
  const get = inlet.call("GET", `/api/domains/${inbox.domainId}`, { key: inbox.key })
  const path = `/api/domains/${inbox.domainId}/events`
  const events = (status: string) =>
    Effect.map(
      inlet.call("GET", `${path}?limit=100&delivery=${status}`, { key: inbox.key }),
      ({ json }) => json.events as ReadonlyArray<{ readonly event_id: string }>
    )
  yield* Mail.send(inlet.smtpPort, { to: inbox.address })
  yield* receiver.next
  yield* eventually(Deliveries.webhook(DomainId.make(inbox.domainId)), ({ failing }) => failing)
  yield* Deliveries.failedOften(DomainId.make(inbox.domainId))
  assert.isNull((yield* get).json.webhook_paused_at)
  yield* sql`
    UPDATE webhooks SET failing_since = now() - interval '5 days' WHERE id = ${inbox.domainId}
  `
  yield* Mail.send(inlet.smtpPort, { to: inbox.address })
  const { json } = yield* eventually(get, ({ json }) => json.webhook_paused_at !== null)
  assert.match(json.webhook_paused_at, /^\d{4}-.+\.\d{3}Z$/)
  yield* Deliveries.pending(DomainId.make(inbox.domainId), mails)
  const before = (yield* receiver.all).length
  const waiting = mails + 2
  const setWebhook = (webhookUrl: string) =>
    Effect.map(
      inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, { key: inbox.key, body: { webhookUrl } }),
      ({ status }) => assert.strictEqual(status, 200)
    )
  /** Checks that the pause has ended and all pending mail is delivered. */
  const goesOn = Effect.gen(function* () {
    assert.isNull((yield* get).json.webhook_paused_at)
    yield* eventually(events("delivered"), (delivered) => delivered.length === waiting)
  })
  return { ...inbox, get, events, path, waiting, before, setWebhook, goesOn }
})

layer(TestInlet.layer(), { concurrent: true, excludeTestServices: true })("A paused webhook", (it) => {
  it.effect("keeps mail pending, is probed, and receives the rest after a success, 16 at a time", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* WebhookReceiver.make
      const { before, domainId, events, get, waiting } = yield* pausedInbox(receiver, 48)
      assert.lengthOf(yield* events("pending"), waiting)
      assert.strictEqual((yield* receiver.within(1_500))._tag, "Some", "only the two failed attempts")
      assert.lengthOf(yield* receiver.all, before)

      let open = 0
      let most = 0
      yield* receiver.answerAlways((_request: IncomingMessage, response: ServerResponse) => {
        most = Math.max(most, ++open)
        Effect.sleep("20 millis").pipe(
          Effect.andThen(
            Effect.sync(() => {
              open--
              response.end()
            })
          ),
          Effect.runFork
        )
      })
      yield* sql`UPDATE webhooks SET probe_at = now() WHERE id = ${domainId}`
      yield* eventually(events("delivered"), (delivered) => delivered.length === waiting)
      assert.isNull((yield* get).json.webhook_paused_at)
      assert.lengthOf(yield* receiver.all, before + waiting)
      assert.isAtMost(most, 16)
      const { text } = yield* inlet.call("GET", "/metrics")
      assert.match(text, /^inlet_webhooks_paused_total [1-9]/m)
      assert.match(text, /^inlet_webhooks_resumed_total [1-9]/m)
    })
  )

  it.effect("receives all pending mail after a replay of one", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver.make
      const { events, goesOn, key, path } = yield* pausedInbox(receiver, 8)
      yield* receiver.answerAlways(200)
      const [event] = yield* events("pending")
      const { status } = yield* inlet.call("POST", `${path}/${event?.event_id}/replay`, { key })
      assert.strictEqual(status, 202)
      yield* goesOn
    })
  )

  it.effect("receives all pending mail at a new URL at once", () =>
    Effect.gen(function* () {
      const old = yield* WebhookReceiver.make
      const receiver = yield* WebhookReceiver.make
      const { before, goesOn, setWebhook, waiting } = yield* pausedInbox(old, 8)
      yield* setWebhook(receiver.url)
      yield* goesOn
      assert.lengthOf(yield* receiver.all, waiting)
      assert.lengthOf(yield* old.all, before)
    })
  )

  it.effect("receives all pending mail when the same URL is set again", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { goesOn, setWebhook } = yield* pausedInbox(receiver, 8)
      yield* receiver.answerAlways(200)
      yield* setWebhook(receiver.url)
      yield* goesOn
    })
  )

  it.effect("is not resumed by setting the URL of a webhook that is not paused", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerAlways(500)
      const { address, domainId, key } = yield* inlet.inbox(receiver.url)
      yield* Mail.send(inlet.smtpPort, { to: address })
      const { event } = yield* receiver.next
      const delivery = Deliveries.delivery(EventId.make(event.event_id))
      yield* eventually(delivery, ({ attempts, leasedFor }) => attempts > 0 && leasedFor === null)
      // No second attempt comes between the two looks.
      yield* Deliveries.postpone(EventId.make(event.event_id), "1 hour")
      const body = { webhookUrl: receiver.url }
      const { json, status } = yield* inlet.call("PATCH", `/api/domains/${domainId}/delivery`, { key, body })
      assert.strictEqual(status, 200)
      assert.strictEqual(json.webhookUrl, receiver.url)
      assert.isAbove((yield* delivery).dueIn, 3_000)
      assert.isTrue((yield* Deliveries.webhook(DomainId.make(domainId))).failing)
    })
  )

  it.effect("holds its mail and ends the pause when it is cleared", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver.make
      const { domainId, events, get, key, waiting } = yield* pausedInbox(receiver, 8)
      yield* inlet.call("PATCH", `/api/domains/${domainId}/delivery`, { key, body: { webhookUrl: null } })
      assert.lengthOf(yield* events("held"), waiting)
      assert.isNull((yield* get).json.webhook_paused_at)
    })
  )
})
