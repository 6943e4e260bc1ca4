import type { ServerResponse } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Array, Clock, DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Ports from "../Ports.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** Three attempts: the first, and one after each delay. */
const settings = { WEBHOOK_RETRY_DELAYS: "20ms,20ms", ADMIN_TOKEN: "operator" }

/** Delays a retry by 1 h. */
const later = { status: 503, headers: { "retry-after": "3600" } }

interface Inbox {
  readonly key: string
  readonly domainId: string
  readonly domain: string
  readonly address: string
}

const send = Effect.fnUntraced(function* ({ address }: Inbox) {
  const inlet = yield* TestInlet
  yield* Mail.send(inlet.smtpPort, { to: address })
})

const setWebhook = Effect.fnUntraced(function* ({ domainId, key }: Inbox, webhookUrl: string | null) {
  const inlet = yield* TestInlet
  const { status } = yield* inlet.call("PATCH", `/api/domains/${domainId}/delivery`, { key, body: { webhookUrl } })
  assert.strictEqual(status, 200)
})

/** The newest event, once its delivery has this status. */
const newest = Effect.fnUntraced(function* ({ domainId, key }: Inbox, status: string, attempts: number) {
  const inlet = yield* TestInlet
  const { json } = yield* eventually(
    inlet.call("GET", `/api/domains/${domainId}/events`, { key }),
    ({ json }) => json.events[0]?.delivery.status === status && json.events[0].delivery.attempts === attempts
  )
  return json.events[0]
})

const attemptsOf = Effect.fnUntraced(function* ({ domainId, key }: Inbox, eventId: string) {
  const inlet = yield* TestInlet
  const { json } = yield* inlet.call("GET", `/api/domains/${domainId}/delivery-attempts?event_id=${eventId}`, { key })
  return json.deliveryAttempts as ReadonlyArray<Answer["json"]>
})

const replay = Effect.fnUntraced(function* ({ domainId, key }: Inbox, eventId: string, query = "") {
  const inlet = yield* TestInlet
  return yield* inlet.call("POST", `/api/domains/${domainId}/events/${eventId}/replay${query}`, { key })
})

const statusOf = Effect.fnUntraced(function* ({ domainId, key }: Inbox) {
  const inlet = yield* TestInlet
  const { json } = yield* inlet.call("GET", `/api/domains/${domainId}`, { key })
  return { status: json.status as string, liveAt: json.live_at as string | null }
})

const makeDue = ({ domainId }: Inbox) =>
  SqlClient.SqlClient.use((sql) => sql`UPDATE deliveries SET due_at = now() WHERE domain_id = ${domainId}`)

/** All attempts of a mail to this inbox fail without an answer, with this error. */
const recordsFailure = Effect.fnUntraced(function* (to: Inbox, error: string) {
  yield* send(to)
  const { delivery, event_id } = yield* newest(to, "dead", 3)
  assert.strictEqual(delivery.lastError, error)
  for (const attempt of yield* attemptsOf(to, event_id)) {
    assert.deepInclude(attempt, { statusCode: null, ok: false, error, responseBody: null })
  }
})

const inbox = (url?: string) => TestInlet.use((inlet) => inlet.inbox(url))

layer(TestInlet.layer(settings), { concurrent: true, excludeTestServices: true })("Delivering", (it) => {
  it.effect("retries by the schedule, then marks the delivery as dead with the reason", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerAlways({ status: 500, body: "no room" })
      const to = yield* inbox(receiver.url)
      yield* send(to)

      const event = yield* newest(to, "dead", 3)
      assert.deepStrictEqual(event.delivery, {
        status: "dead",
        attempts: 3,
        nextAttemptAt: null,
        deliveredAt: null,
        lastError: "the webhook answered 500"
      })
      const requests = yield* receiver.all
      assert.lengthOf(requests, 3)
      for (const { body } of requests) assert.deepStrictEqual(body, requests[0]?.body)
      const attempts = yield* attemptsOf(to, event.event_id)
      assert.deepStrictEqual(
        attempts.map(({ attempt }) => attempt),
        [3, 2, 1]
      )
      for (const { durationMs, id, requestedAt, ...attempt } of attempts) {
        assert.deepStrictEqual(attempt, {
          event_id: event.event_id,
          attempt: attempt.attempt,
          url: receiver.url,
          statusCode: 500,
          ok: false,
          error: "the webhook answered 500",
          responseBody: "no room",
          nextAttemptAt: null
        })
        assert.match(id, /^[\da-f-]{36}$/)
        assert.match(requestedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.isAtLeast(durationMs, 0)
      }
      assert.deepStrictEqual(yield* statusOf(to), { status: "verified", liveAt: null })
    })
  )

  it.effect("succeeds on a retry, and the first 2xx makes the domain live", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const to = yield* inbox(receiver.url)
      yield* receiver.answerWith(500, 202)
      yield* send(to)

      const { delivery, event_id } = yield* newest(to, "delivered", 2)
      assert.deepInclude(delivery, { nextAttemptAt: null, lastError: null })
      assert.match(delivery.deliveredAt, /^\d{4}-.+\.\d{3}Z$/)
      const attempts = yield* attemptsOf(to, event_id)
      assert.deepStrictEqual(
        attempts.map(({ attempt, error, ok, statusCode }) => ({ attempt, error, ok, statusCode })),
        [
          { attempt: 2, error: null, ok: true, statusCode: 202 },
          { attempt: 1, error: "the webhook answered 500", ok: false, statusCode: 500 }
        ]
      )
      const live = yield* statusOf(to)
      assert.strictEqual(live.status, "live")

      yield* receiver.answerWith(410)
      yield* send(to)
      yield* newest(to, "dead", 1)
      assert.deepStrictEqual(yield* statusOf(to), live)
    })
  )

  it.effect("waits as long as Retry-After asks and reports the time", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerWith(later)
      const to = yield* inbox(receiver.url)
      yield* send(to)

      const { delivery } = yield* eventually(newest(to, "pending", 1), ({ delivery }) => delivery.lastError !== null)
      assert.strictEqual(delivery.lastError, "the webhook answered 503")
      const now = yield* Clock.currentTimeMillis
      const wait = DateTime.toEpochMillis(DateTime.makeUnsafe(delivery.nextAttemptAt)) - now
      assert.closeTo(wait, 3_600_000, 20_000)
    })
  )

  it.effect("gives up after a 410, and a replay posts it again", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerWith(410)
      const to = yield* inbox(receiver.url)
      yield* send(to)
      const { event_id } = yield* newest(to, "dead", 1)

      assert.strictEqual((yield* replay(to, event_id)).status, 202)
      yield* newest(to, "delivered", 2)
      assert.lengthOf(yield* receiver.all, 2)
    })
  )

  it.effect("records a refused connection as the reason of a failed attempt", () =>
    Effect.gen(function* () {
      yield* recordsFailure(yield* inbox(`http://127.0.0.1:${yield* Ports.free}/hook`), "connection refused")
    })
  )

  it.effect("lists the attempt of a terminated worker and makes the next one", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerWith(later)
      const to = yield* inbox(receiver.url)
      yield* send(to)
      const { event_id } = yield* newest(to, "pending", 1)
      yield* eventually(attemptsOf(to, event_id), (attempts) => attempts.length === 1)

      // A second attempt, claimed 5 min after the first by a worker that has died.
      yield* sql`UPDATE delivery_attempts SET requested_at = requested_at - interval '6 minutes' WHERE event_id = ${event_id}`
      yield* sql`
        UPDATE deliveries SET attempts = 2, due_at = now(), leased_until = now() - interval '1 second'
        WHERE event_id = ${event_id}
      `
      yield* newest(to, "delivered", 3)
      const attempts = yield* attemptsOf(to, event_id)
      assert.deepStrictEqual(
        attempts.map(({ attempt, error, ok }) => ({ attempt, error, ok })),
        [
          { attempt: 3, error: null, ok: true },
          { attempt: 2, error: "the worker stopped before it knew the answer", ok: false },
          { attempt: 1, error: "the webhook answered 503", ok: false }
        ]
      )
    })
  )

  it.effect("holds mail without a webhook until a replay, also once a webhook is set", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const to = yield* inbox()
      yield* send(to)
      const held = yield* newest(to, "held", 0)
      assert.isNull(held.delivery.nextAttemptAt)
      assert.strictEqual((yield* replay(to, held.event_id)).status, 409)

      yield* setWebhook(to, receiver.url)
      yield* send(to)
      const { event } = yield* receiver.next
      assert.notStrictEqual(event.event_id, held.event_id)
      assert.strictEqual((yield* newest(to, "delivered", 1)).event_id, event.event_id)

      const { json, status } = yield* replay(to, held.event_id)
      assert.strictEqual(status, 202)
      assert.strictEqual(json.event_id, held.event_id)
      assert.strictEqual((yield* receiver.next).event.event_id, held.event_id)
      assert.lengthOf(yield* receiver.all, 2)
    })
  )

  it.effect("holds pending deliveries when the webhook is cleared", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerWith(later)
      const to = yield* inbox(receiver.url)
      yield* send(to)
      const { event_id } = yield* newest(to, "pending", 1)
      yield* eventually(attemptsOf(to, event_id), (attempts) => attempts.length === 1)

      yield* setWebhook(to, null)
      const held = yield* newest(to, "held", 1)
      assert.isNull(held.delivery.nextAttemptAt)
      yield* setWebhook(to, receiver.url)
      yield* makeDue(to)
      yield* newest(to, "held", 1)

      assert.strictEqual((yield* replay(to, event_id)).status, 202)
      yield* newest(to, "delivered", 2)
      assert.lengthOf(yield* receiver.all, 2)
    })
  )

  it.effect("posts to a new URL at once", () =>
    Effect.gen(function* () {
      const before = yield* WebhookReceiver.make
      const after = yield* WebhookReceiver.make
      yield* before.answerWith(later)
      const to = yield* inbox(before.url)
      yield* send(to)
      const first = yield* before.next

      yield* newest(to, "pending", 1)
      yield* eventually(attemptsOf(to, first.event.event_id), (attempts) => attempts.length === 1)
      yield* setWebhook(to, after.url)
      const second = yield* after.next
      assert.deepStrictEqual(second.body, first.body)
      yield* newest(to, "delivered", 2)
      const attempts = yield* attemptsOf(to, first.event.event_id)
      assert.deepStrictEqual(
        attempts.map(({ url }) => url),
        [after.url, before.url]
      )
      assert.lengthOf(yield* before.all, 1)
    })
  )

  it.effect("pauses while the domain is disabled and resumes when it is enabled", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerWith(later)
      const to = yield* inbox(receiver.url)
      yield* send(to)
      const { event_id } = yield* newest(to, "pending", 1)
      yield* eventually(attemptsOf(to, event_id), (attempts) => attempts.length === 1)
      yield* receiver.next

      const operator = (action: string) =>
        inlet.call("POST", `/admin/domains/${to.domain}/${action}`, { key: settings.ADMIN_TOKEN })
      assert.strictEqual((yield* operator("disable")).status, 200)
      yield* makeDue(to)
      assert.strictEqual((yield* replay(to, event_id)).status, 409)
      assert.strictEqual((yield* receiver.within(1_500))._tag, "None")
      yield* newest(to, "pending", 1)

      assert.strictEqual((yield* operator("enable")).status, 200)
      assert.strictEqual((yield* receiver.next).event.event_id, event_id)
      yield* newest(to, "delivered", 2)
    })
  )

  it.effect("replays with a fresh retry budget and continues the attempt numbers", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerAlways(500)
      const to = yield* inbox(receiver.url)
      yield* send(to)
      const { event_id } = yield* newest(to, "dead", 3)

      const { json, status } = yield* replay(to, event_id)
      assert.strictEqual(status, 202)
      assert.strictEqual(json.event_id, event_id)
      assert.deepInclude(json.delivery, { status: "pending", attempts: 3, deliveredAt: null })
      yield* newest(to, "dead", 6)

      yield* receiver.answerAlways(200)
      assert.strictEqual((yield* replay(to, event_id)).status, 202)
      yield* newest(to, "delivered", 7)
      const attempts = yield* attemptsOf(to, event_id)
      assert.deepStrictEqual(
        attempts.map(({ attempt }) => attempt),
        [7, 6, 5, 4, 3, 2, 1]
      )
    })
  )

  it.effect("replays a delivered event only with force, with the same bytes", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const to = yield* inbox(receiver.url)
      yield* send(to)
      const first = yield* receiver.next
      const { event_id } = yield* newest(to, "delivered", 1)

      const refused = yield* replay(to, event_id)
      assert.strictEqual(refused.status, 409)
      assert.match(refused.json.error, /delivered/)
      assert.strictEqual((yield* replay(to, event_id, "?force=false")).status, 409)
      const forced = yield* replay(to, event_id, "?force=true")
      assert.strictEqual(forced.status, 202)
      assert.deepInclude(forced.json.delivery, { status: "pending", attempts: 1, deliveredAt: null })
      assert.deepStrictEqual((yield* receiver.next).body, first.body)
      yield* newest(to, "delivered", 2)
      assert.lengthOf(yield* receiver.all, 2)
    })
  )

  it.effect("makes one delivery of twenty concurrent replays", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerWith(410)
      const to = yield* inbox(receiver.url)
      yield* send(to)
      const { event_id } = yield* newest(to, "dead", 1)

      const answers = yield* Effect.replicateEffect(replay(to, event_id), 20, { concurrency: "unbounded" })
      const statuses = answers.map(({ status }) => status)
      assert.include(statuses, 202)
      // Later requests get the outcome.
      assert.isTrue(statuses.every((status) => status === 202 || status === 409))
      yield* newest(to, "delivered", 2)
      assert.lengthOf(yield* receiver.all, 2)
      assert.lengthOf(yield* attemptsOf(to, event_id), 2)
    })
  )

  it.effect("keeps a replay that is requested during a failing attempt", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const held: Array<ServerResponse> = []
      const to = yield* inbox(receiver.url)
      yield* receiver.answerWith(500, 500, (_request, response) => void held.push(response))
      yield* send(to)
      const requests = yield* eventually(receiver.all, (requests) => requests.length === 3)
      const { status } = yield* replay(to, requests[0]?.event.event_id)
      assert.strictEqual(status, 202)
      for (const response of held) response.writeHead(500).end()

      yield* newest(to, "delivered", 4)
      assert.lengthOf(yield* receiver.all, 4)
    })
  )

  it.effect("loses no delivery to a peer that closes idle connections", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver.make
      yield* receiver.answerAlways((request, response) => void response.end(() => request.socket.destroy()))
      const to = yield* inbox(receiver.url)
      yield* Effect.forEach(Array.range(1, 30), () => send(to), { concurrency: 3, discard: true })

      const { json } = yield* eventually(
        inlet.call("GET", `/api/domains/${to.domainId}/events?delivery=delivered`, { key: to.key }),
        ({ json }) => json.events.length === 30
      )
      const heard = new Set((yield* receiver.all).map(({ event }) => event.event_id))
      for (const { event_id } of json.events) assert.isTrue(heard.has(event_id))
    })
  )
})

layer(TestInlet.layer({ ...settings, WEBHOOK_TIMEOUT: "1s" }), { excludeTestServices: true })(
  "Delivering to a silent webhook",
  (it) => {
    it.effect("records the timeout as the reason of a failed attempt", () =>
      Effect.gen(function* () {
        const receiver = yield* WebhookReceiver.make
        yield* receiver.answerAlways(() => {})
        yield* recordsFailure(yield* inbox(receiver.url), "no answer within 1 s")
      })
    )
  }
)
