import { assert, describe, layer } from "@effect/vitest"
import { Array, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

type Inbox = Mailbox.Inbox & { readonly domain: string; readonly address: string }

const replay = Effect.fnUntraced(function* (inbox: Inbox, eventId: string, query = "") {
  const inlet = yield* TestInlet
  return yield* inlet.call("POST", `/api/domains/${inbox.domainId}/events/${eventId}/replay${query}`, {
    key: inbox.key
  })
})

const attempts = Effect.fnUntraced(function* (inbox: Inbox, query = "") {
  const inlet = yield* TestInlet
  return yield* inlet.call("GET", `/api/domains/${inbox.domainId}/delivery-attempts${query}`, { key: inbox.key })
})

const setWebhook = Effect.fnUntraced(function* (inbox: Inbox, webhookUrl: string | null) {
  const inlet = yield* TestInlet
  return yield* inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, { key: inbox.key, body: { webhookUrl } })
})

/** The only event of an inbox, once its delivery has this status. */
const eventIn = (inbox: Inbox, state: string) =>
  Effect.map(
    eventually(Mailbox.events(inbox), ([event]) => event?.delivery.status === state),
    ([event]) => event
  )

/** An inbox with one event that got this answer from the webhook. */
const answered = Effect.fnUntraced(function* (status: number) {
  const inlet = yield* TestInlet
  const receiver = yield* WebhookReceiver
  const inbox = yield* inlet.inbox(receiver.url)
  yield* receiver.answerWith(status)
  yield* Mail.send(inlet.smtpPort, { to: inbox.address })
  yield* receiver.next
  yield* eventually(attempts(inbox), ({ json }) => json.deliveryAttempts.length === 1)
  return inbox
})

const World = Layer.merge(
  TestInlet.layer({ WEBHOOK_RETRY_DELAYS: "1h", ADMIN_TOKEN: "operator" }),
  WebhookReceiver.layer
)

layer(World, { excludeTestServices: true })("The delivery of an event", (it) => {
  describe("by deliver-now", () => {
    it.effect("is attempted at once, and a failure leaves its schedule as it was", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver
        const inbox = yield* answered(500)
        const event = yield* eventIn(inbox, "pending")
        const path = `/api/domains/${inbox.domainId}`
        const now = inlet.call("POST", `${path}/events/${event.event_id}/deliver-now`, { key: inbox.key })
        const next = Date.parse(event.delivery.nextAttemptAt)
        const [attempt] = (yield* attempts(inbox)).json.deliveryAttempts
        assert.strictEqual(attempt.nextAttemptAt, event.delivery.nextAttemptAt)
        yield* receiver.answerWith(500)
        const { json, status } = yield* now
        assert.strictEqual(status, 202)
        assert.deepInclude(json.delivery, { status: "pending", attempts: 1 })
        yield* receiver.next
        const failed = yield* eventually(
          Mailbox.events(inbox),
          ([event]) => event?.delivery.attempts === 2 && Date.parse(event.delivery.nextAttemptAt) === next
        )
        assert.strictEqual(failed[0]?.delivery.status, "pending")

        const { json: domain } = yield* inlet.call("GET", path, { key: inbox.key })
        assert.deepInclude(domain.webhook_failing, {
          last_error: "the webhook answered 500",
          waiting: 1,
          next_attempt_at: event.delivery.nextAttemptAt
        })
        assert.match(domain.webhook_failing.since, time)
        yield* now
        yield* receiver.next
        yield* eventIn(inbox, "delivered")
        assert.isNull((yield* inlet.call("GET", path, { key: inbox.key })).json.webhook_failing)
        const again = yield* now
        assert.deepStrictEqual(
          [again.status, again.json.error],
          [
            409,
            `This event is already delivered. POST ${path}/events/${event.event_id}/replay?force=true sends it again`
          ]
        )
      })
    )

    it.effect("is refused for a dead or held event, and for a paused webhook", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* answered(500)
        const event = yield* eventIn(inbox, "pending")
        const refusal = Effect.map(
          inlet.call("POST", `/api/domains/${inbox.domainId}/events/${event.event_id}/deliver-now`, { key: inbox.key }),
          ({ json, status }) => [status, json.error]
        )
        yield* sql`UPDATE webhooks SET paused_at = now(), probe_at = now() + interval '1 hour' WHERE id = ${inbox.domainId}`
        assert.deepStrictEqual(yield* refusal, [
          409,
          `The webhook is paused. POST /api/domains/${inbox.domainId}/events/${event.event_id}/replay resumes it`
        ])
        for (const status of ["dead", "held"]) {
          yield* sql`UPDATE deliveries SET status = ${status} WHERE domain_id = ${inbox.domainId}`
          const [code, words] = yield* refusal
          assert.strictEqual(code, 409)
          assert.include(words, `This delivery is ${status}, because`)
        }
      })
    )
  })

  describe("in the list of attempts", () => {
    it.effect("is found by success, status code and time", () =>
      Effect.gen(function* () {
        const receiver = yield* WebhookReceiver
        const inbox = yield* answered(503)
        const event = yield* eventIn(inbox, "pending")
        yield* replay(inbox, event.event_id)
        yield* receiver.next
        yield* eventIn(inbox, "delivered")
        const numbers = (query: string) =>
          Effect.map(attempts(inbox, query), ({ json }) =>
            json.deliveryAttempts.map(({ attempt }: { readonly attempt: number }) => attempt)
          )
        assert.deepStrictEqual(yield* numbers("?ok=true"), [2])
        assert.deepStrictEqual(yield* numbers("?ok=false"), [1])
        assert.deepStrictEqual(yield* numbers("?status_code=503"), [1])
        assert.deepStrictEqual(yield* numbers("?status_code=404"), [])
        assert.deepStrictEqual(yield* numbers("?since=2026-01-31T12:00:00Z&ok=false"), [1])
        assert.deepStrictEqual(yield* numbers("?since=2126-01-31T12:00:00Z"), [])
        for (const wrong of ["?ok=maybe", "?status_code=99", "?since=yesterday"]) {
          assert.strictEqual((yield* attempts(inbox, wrong)).status, 400)
        }
      })
    )

    it.effect("is searched up to 5,000 attempts at a time", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* answered(500)
        const event = yield* eventIn(inbox, "pending")
        yield* sql`
          INSERT INTO delivery_attempts (id, event_id, domain_id, attempt, url, requested_at, ok, status_code)
          SELECT gen_random_uuid(), ${event.event_id}, ${inbox.domainId}, number + 100, 'http://a.example',
            now() + make_interval(secs => number), true, 200
          FROM generate_series(1, 5500) AS number
        `
        const first = yield* attempts(inbox, "?ok=false")
        assert.deepStrictEqual(first.json.deliveryAttempts, [])
        const second = yield* attempts(inbox, `?ok=false&cursor=${first.json.next_cursor}`)
        assert.lengthOf(second.json.deliveryAttempts, 1)
        assert.isNull(second.json.next_cursor)
      })
    )
  })

  describe("by replay", () => {
    it.effect("is queued with 202 and continues the attempt numbers", () =>
      Effect.gen(function* () {
        const receiver = yield* WebhookReceiver
        const inbox = yield* answered(410)
        const event = yield* eventIn(inbox, "dead")
        assert.strictEqual(event.delivery.attempts, 1)

        const { json, status } = yield* replay(inbox, event.event_id)
        assert.strictEqual(status, 202)
        assert.deepStrictEqual(Object.keys(json), ["event_id", "delivery"])
        assert.strictEqual(json.event_id, event.event_id)
        assert.strictEqual(json.delivery.status, "pending")
        assert.strictEqual(json.delivery.attempts, 1)
        assert.match(json.delivery.nextAttemptAt, time)
        assert.isNull(json.delivery.deliveredAt)

        const request = yield* receiver.next
        assert.strictEqual(request.headers["x-service-event-id"], event.event_id)
        const delivered = yield* eventIn(inbox, "delivered")
        assert.strictEqual(delivered.delivery.attempts, 2)
        assert.isNull(delivered.delivery.lastError)
        const listed = yield* attempts(inbox)
        assert.deepStrictEqual(
          listed.json.deliveryAttempts.map(({ attempt, ok }: Record<string, unknown>) => [attempt, ok]),
          [
            [2, true],
            [1, false]
          ]
        )
      })
    )

    it.effect("has a fresh retry budget", () =>
      Effect.gen(function* () {
        const receiver = yield* WebhookReceiver
        const inbox = yield* answered(410)
        const event = yield* eventIn(inbox, "dead")
        // With one configured delay, a retry budget is two attempts.
        yield* receiver.answerWith(500)
        yield* replay(inbox, event.event_id)
        yield* receiver.next
        const failed = yield* eventually(
          eventIn(inbox, "pending"),
          ({ delivery }) => delivery.lastError === "the webhook answered 500"
        )
        assert.strictEqual(failed.delivery.attempts, 2)
      })
    )

    it.effect("is made at once if a retry was pending", () =>
      Effect.gen(function* () {
        const receiver = yield* WebhookReceiver
        const inbox = yield* answered(500)
        const event = yield* eventIn(inbox, "pending")
        assert.strictEqual((yield* replay(inbox, event.event_id)).status, 202)
        yield* receiver.next
        yield* eventIn(inbox, "delivered")
      })
    )

    it.effect("includes mail from before the webhook was set, which is not sent by itself", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver
        const inbox = yield* inlet.inbox()
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "old" })
        const old = yield* eventIn(inbox, "held")
        yield* setWebhook(inbox, receiver.url)
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "new" })
        assert.strictEqual((yield* receiver.next).event.subject, "new")
        assert.strictEqual((yield* eventIn(inbox, "held")).event_id, old.event_id)

        yield* replay(inbox, old.event_id)
        assert.strictEqual((yield* receiver.next).event.subject, "old")
      })
    )

    it.effect("answers 409 for a delivered event, except with force", () =>
      Effect.gen(function* () {
        const receiver = yield* WebhookReceiver
        const inbox = yield* answered(200)
        const event = yield* eventIn(inbox, "delivered")
        for (const query of ["", "?force=false"]) {
          const { json, status } = yield* replay(inbox, event.event_id, query)
          assert.strictEqual(status, 409)
          assert.match(json.error, /already delivered.*force=true/)
        }
        assert.strictEqual((yield* replay(inbox, event.event_id, "?force=maybe")).status, 400)

        assert.strictEqual((yield* replay(inbox, event.event_id, "?force=true")).status, 202)
        const again = yield* receiver.next
        assert.strictEqual(again.headers["x-service-event-id"], event.event_id)
        const delivered = yield* eventually(eventIn(inbox, "delivered"), ({ delivery }) => delivery.attempts === 2)
        assert.isNull(delivered.delivery.lastError)
      })
    )

    it.effect("answers 409 without a webhook, with or without force", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        yield* Mail.send(inlet.smtpPort, { to: inbox.address })
        const event = yield* eventIn(inbox, "held")
        for (const query of ["", "?force=true"]) {
          const { json, status } = yield* replay(inbox, event.event_id, query)
          assert.strictEqual(status, 409)
          assert.match(json.error, /no webhook/)
        }
        yield* eventIn(inbox, "held")
      })
    )

    it.effect("answers 409 for a disabled domain, with or without force", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver
        const inbox = yield* answered(410)
        const event = yield* eventIn(inbox, "dead")
        yield* inlet.call("POST", `/admin/domains/${inbox.domain}/disable`, { key: "operator" })
        const before = (yield* receiver.all).length
        for (const query of ["", "?force=true"]) {
          const { json, status } = yield* replay(inbox, event.event_id, query)
          assert.strictEqual(status, 409)
          assert.match(json.error, /disabled/)
        }
        yield* eventIn(inbox, "dead")
        assert.strictEqual((yield* receiver.all).length, before)
      })
    )

    it.effect("is queued once for twenty concurrent requests", () =>
      Effect.gen(function* () {
        const receiver = yield* WebhookReceiver
        const inbox = yield* answered(410)
        const event = yield* eventIn(inbox, "dead")
        const before = (yield* receiver.all).length
        // The webhook delays its answer until every replay request is answered.
        const held: Array<() => void> = []
        yield* receiver.answerWith((_request, response) => void held.push(() => response.writeHead(200).end()))
        const answers = yield* Effect.forEach(Array.range(1, 20), () => replay(inbox, event.event_id), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(Array.dedupe(answers.map(({ status }) => status)), [202])
        yield* receiver.next
        for (const release of held) release()
        const delivered = yield* eventIn(inbox, "delivered")
        assert.strictEqual(delivered.delivery.attempts, 2)
        assert.strictEqual((yield* receiver.all).length, before + 1)
      })
    )
  })

  describe("in the list of attempts", () => {
    it.effect("is absent before the first attempt", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { json, status } = yield* attempts(yield* inlet.inbox())
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(json, { deliveryAttempts: [], next_cursor: null })
      })
    )

    it.effect("appears with each request and outcome, newest first", () =>
      Effect.gen(function* () {
        const receiver = yield* WebhookReceiver
        const inbox = yield* answered(500)
        const event = yield* eventIn(inbox, "pending")
        yield* receiver.answerWith({ status: 204, body: "" })
        yield* replay(inbox, event.event_id)
        yield* receiver.next
        yield* eventIn(inbox, "delivered")

        const { json } = yield* attempts(inbox)
        const [second, first] = json.deliveryAttempts
        assert.deepStrictEqual(first, {
          id: first.id,
          event_id: event.event_id,
          attempt: 1,
          url: receiver.url,
          requestedAt: first.requestedAt,
          durationMs: first.durationMs,
          statusCode: 500,
          ok: false,
          error: "the webhook answered 500",
          responseBody: '{"ok":true}',
          nextAttemptAt: null
        })
        assert.match(first.id, uuid)
        assert.match(first.requestedAt, time)
        assert.isAtLeast(first.durationMs, 0)
        assert.strictEqual(second.attempt, 2)
        assert.strictEqual(second.statusCode, 204)
        assert.isTrue(second.ok)
        assert.isNull(second.error)
        assert.strictEqual(second.responseBody, "")
      })
    )

    it.effect("is listed in pages and by event", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver
        const inbox = yield* inlet.inbox(receiver.url)
        for (const subject of ["1", "2", "3"]) {
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject })
          yield* receiver.next
          yield* eventually(attempts(inbox), ({ json }) => json.deliveryAttempts.length === Number(subject))
        }
        const events = yield* Mailbox.events(inbox)
        const ids = (answer: { readonly json: { readonly deliveryAttempts: ReadonlyArray<{ event_id: string }> } }) =>
          answer.json.deliveryAttempts.map(({ event_id }) => event_id)

        const first = yield* attempts(inbox, "?limit=2")
        assert.deepStrictEqual(ids(first), [events[2].event_id, events[1].event_id])
        const second = yield* attempts(inbox, `?limit=2&cursor=${first.json.next_cursor}`)
        assert.deepStrictEqual(ids(second), [events[0].event_id])
        assert.isNull(second.json.next_cursor)
        const exact = yield* attempts(inbox, "?limit=3")
        assert.isNull(exact.json.next_cursor)
        const one = yield* attempts(inbox, `?event_id=${events[1].event_id}`)
        assert.deepStrictEqual(ids(one), [events[1].event_id])
      })
    )

    it.effect("is complete with several attempts in the same millisecond", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* answered(500)
        yield* sql`
          INSERT INTO delivery_attempts (id, event_id, domain_id, attempt, url, requested_at, ok)
          SELECT gen_random_uuid(), event_id, domain_id, 1 + n, url, requested_at, false
          FROM delivery_attempts, generate_series(1, 9) AS n WHERE domain_id = ${inbox.domainId}
        `
        const seen: Array<number> = []
        let cursor: string | null = ""
        while (cursor !== null) {
          const page: Answer = yield* attempts(inbox, `?limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`)
          seen.push(...page.json.deliveryAttempts.map(({ attempt }: { readonly attempt: number }) => attempt))
          cursor = page.json.next_cursor
        }
        assert.deepStrictEqual(
          seen.toSorted((a, b) => a - b),
          Array.range(1, 10)
        )
      })
    )

    it.effect("answers 400 to an invalid query and names the parameter", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        for (const [name, value] of [
          ["limit", "0"],
          ["limit", "101"],
          ["limit", "x"],
          ["cursor", "x"],
          ["event_id", "x"],
          ["event_id", ""]
        ]) {
          const { json, status } = yield* attempts(inbox, `?${name}=${value}`)
          assert.strictEqual(status, 400, `${name}=${value}`)
          assert.match(json.error, new RegExp(`^${name}: Expected `))
        }
      })
    )
  })
})
