import { assert, describe, layer } from "@effect/vitest"
import { Array, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Webhook } from "standardwebhooks"
import { verify } from "../../src/effect.ts"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** The answer to a lease with the settings of these tests. */
const settings = { WEBHOOK_RETRY_DELAYS: "50ms", HTTP_MAX_WAITS_PER_WORKSPACE: "2", HTTP_PAGE_BYTES: "20000" }

/** An inbox with pull delivery, and its owner's requests. */
const taker = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  const inbox = yield* inlet.inbox()
  const path = `/api/domains/${inbox.domainId}`
  const { key } = inbox
  const deliver = (body: unknown) => inlet.call("PATCH", `${path}/delivery`, { key, body })
  assert.strictEqual((yield* deliver({ pull: true })).status, 200)
  const lease = (body: unknown = {}) => inlet.call("POST", `${path}/deliveries/lease`, { key, body })
  const settle = (...outcomes: ReadonlyArray<unknown>) =>
    inlet.call("POST", `${path}/deliveries/settle`, { key, body: { outcomes } })
  return {
    inbox,
    deliver,
    lease,
    settle,
    /** The leased deliveries, once some are due. */
    due: Effect.map(lease({ wait: 20 }), ({ json }): ReadonlyArray<Answer["json"]> => json.deliveries),
    send: (subject: string, text = "Hi") => Mail.send(inlet.smtpPort, { to: inbox.address, subject, text }),
    domain: Effect.map(inlet.call("GET", path, { key }), ({ json }) => json),
    attempts: Effect.map(inlet.call("GET", `${path}/delivery-attempts`, { key }), ({ json }) =>
      (json.deliveryAttempts as ReadonlyArray<Answer["json"]>)
        .toReversed()
        .map(({ attempt, error, ok, statusCode, url }) => [attempt, url, ok, statusCode, error])
    ),
    replay: (eventId: string) => inlet.call("POST", `${path}/events/${eventId}/replay`, { key }),
    events: Mailbox.events(inbox),
    /** Expires every lease of the domain. */
    leasesEnd: sql`
      UPDATE deliveries SET leased_until = now(), claimed_at = claimed_at - interval '1 minute'
      WHERE domain_id = ${inbox.domainId} AND leased_until IS NOT NULL
    `
  }
})

const took = { statusCode: 200, durationMs: 12, responseBody: "ok" }

layer(Layer.merge(TestInlet.layer(settings), WebhookReceiver.layer), {
  excludeTestServices: true
})("A pull delivery", (it) => {
  it.effect("has the request of its webhook, and its first 2xx marks it delivered and the domain live", () =>
    Effect.gen(function* () {
      const { attempts, domain, due, events, inbox, send, settle } = yield* taker
      const waiting = yield* Effect.forkChild(due)
      yield* send("Grüße 📬")
      const [first, ...others] = yield* Fiber.join(waiting)
      assert.lengthOf(others, 0)
      const { attempt, body, event_id, headers, leased_until } = first
      assert.strictEqual(attempt, 1)
      assert.deepStrictEqual(
        new Webhook(inbox.secret).verify(body, headers),
        yield* verify({ headers, rawBody: body, secret: inbox.secret })
      )
      assert.strictEqual(JSON.parse(body).event_id, event_id)
      assert.isAbove(Date.parse(leased_until), Date.parse(JSON.parse(body).receivedAt) + 50_000)
      assert.notStrictEqual((yield* domain).status, "live")

      const { json, status } = yield* settle({ event_id, attempt, ...took })
      assert.strictEqual(status, 200)
      const [settled] = json.outcomes
      assert.deepStrictEqual([settled.event_id, settled.attempt, settled.status], [event_id, 1, 200])
      assert.strictEqual(settled.delivery.status, "delivered")
      assert.strictEqual((yield* domain).status, "live")
      const [event] = yield* events
      assert.strictEqual(event.delivery.status, "delivered")
      assert.deepStrictEqual(yield* attempts, [[1, "pull", true, 200, null]])
    })
  )

  it.effect("takes its outcome also from a client that writes ids in capitals", () =>
    Effect.gen(function* () {
      const { due, send, settle } = yield* taker
      yield* send("capitals")
      const [{ attempt, event_id }] = yield* due
      const id = event_id.toUpperCase()
      const { json } = yield* settle({ event_id: id, attempt, ...took })
      assert.deepInclude(json.outcomes[0], { event_id: id, status: 200 })
      const twice = yield* settle({ event_id, attempt, ...took }, { event_id: id, attempt, ...took })
      assert.strictEqual(twice.status, 400)
    })
  )

  it.effect("is retried by the webhook schedule, dead after the last failure, and leased again after a replay", () =>
    Effect.gen(function* () {
      const { attempts, due, replay, send, settle } = yield* taker
      yield* send("refused")
      const [first] = yield* due
      const refused = yield* settle({ ...first, statusCode: 500, durationMs: 3 })
      assert.strictEqual(refused.json.outcomes[0].delivery.status, "pending")
      const [second] = yield* due
      assert.deepStrictEqual([second.event_id, second.attempt, second.body], [first.event_id, 2, first.body])
      const dead = yield* settle({ ...second, error: "connect ECONNREFUSED", durationMs: 3 })
      assert.strictEqual(dead.json.outcomes[0].delivery.status, "dead")
      assert.strictEqual(dead.json.outcomes[0].delivery.lastError, "connect ECONNREFUSED")

      assert.strictEqual((yield* replay(first.event_id)).status, 202)
      const [third] = yield* due
      assert.strictEqual(third.attempt, 3)
      const last = yield* settle({ ...third, ...took })
      assert.strictEqual(last.json.outcomes[0].delivery.status, "delivered")
      assert.deepStrictEqual(yield* attempts, [
        [1, "pull", false, 500, "the app answered 500"],
        [2, "pull", false, null, "connect ECONNREFUSED"],
        [3, "pull", true, 200, null]
      ])
    })
  )

  it.effect("is leased to one of several clients", () =>
    Effect.gen(function* () {
      const { events, lease, send } = yield* taker
      yield* Effect.forEach(Array.range(1, 20), (number) => send(`mail ${number}`), { concurrency: 5 })
      yield* events
      const leases = yield* Effect.replicateEffect(lease({ limit: 2 }), 10, { concurrency: 5 })
      const given = leases.flatMap(({ json }) => json.deliveries.map(({ event_id }: Answer["json"]) => event_id))
      const left = yield* lease()
      const all = [...given, ...left.json.deliveries.map(({ event_id }: Answer["json"]) => event_id)]
      assert.lengthOf(new Set(all), all.length)
      assert.isAbove(given.length, 10)
      assert.lengthOf((yield* lease()).json.deliveries, 0)
    })
  )

  it.effect("is leased again after its lease expires, and a late outcome changes nothing", () =>
    Effect.gen(function* () {
      const { attempts, due, leasesEnd, send, settle } = yield* taker
      yield* send("slow")
      const [first] = yield* due
      yield* leasesEnd
      const late = yield* settle({ ...first, ...took })
      assert.strictEqual(late.status, 200)
      assert.strictEqual(late.json.outcomes[0].status, 409)
      assert.match(late.json.outcomes[0].error, /^The lease of this attempt has expired/)
      assert.deepStrictEqual(yield* attempts, [])

      const [second] = yield* due
      assert.strictEqual(second.attempt, 2)
      const both = yield* settle({ ...first, ...took })
      assert.strictEqual(both.json.outcomes[0].status, 409)
      const settled = yield* settle({ ...second, ...took })
      assert.strictEqual(settled.json.outcomes[0].status, 200)
      // A client without an answer repeats the outcome, and the first one counts.
      const again = yield* settle({ ...second, statusCode: 500, durationMs: 1 })
      assert.deepStrictEqual(again.json, settled.json)
      assert.deepStrictEqual(yield* attempts, [
        [1, "pull", false, null, "its outcome was not told in time"],
        [2, "pull", true, 200, null]
      ])
    })
  )

  it.effect("is leased after its worker and its webhook are gone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { attempts, due, inbox, lease, leasesEnd, send } = yield* taker
      yield* send("limbo")
      yield* due
      yield* sql`UPDATE deliveries SET claimed_url = NULL WHERE domain_id = ${inbox.domainId}`
      yield* leasesEnd
      const { json, status } = yield* lease()
      assert.deepStrictEqual([status, json.deliveries?.[0]?.attempt], [200, 2])
      assert.deepStrictEqual(yield* attempts, [
        [1, "pull", false, null, "the worker stopped before it knew the answer"]
      ])
    })
  )

  it.effect("accepts no outcome without a lease or for another domain", () =>
    Effect.gen(function* () {
      const ada = yield* taker
      const bob = yield* taker
      yield* bob.send("Bob's")
      const [own] = yield* bob.due
      const foreign = yield* ada.settle({ ...own, ...took })
      const unknown = yield* ada.settle({ ...own, event_id: "01890000-0000-7000-8000-000000000000", ...took })
      assert.deepStrictEqual(
        [foreign, unknown].map(({ json }) => [json.outcomes[0].status, json.outcomes[0].error]),
        Array.replicate([409, foreign.json.outcomes[0].error], 2)
      )
      const other = yield* bob.settle({ ...own, attempt: 7, ...took })
      assert.strictEqual(other.json.outcomes[0].status, 409)
      assert.deepStrictEqual(yield* bob.attempts, [])
      assert.strictEqual((yield* bob.settle({ ...own, ...took })).json.outcomes[0].status, 200)
    })
  )

  it.effect("goes to a webhook once one is set, and earlier leases still accept their outcome", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver
      const { attempts, deliver, domain, due, events, lease, leasesEnd, send, settle } = yield* taker
      yield* send("under way")
      const [first] = yield* due
      yield* send("lost")
      const [lost] = yield* due
      yield* send("waits")
      yield* events
      const set = yield* deliver({ webhookUrl: receiver.url })
      assert.deepStrictEqual([set.json.webhookUrl, set.json.pull], [receiver.url, false])
      assert.strictEqual((yield* receiver.next).event.subject, "waits")
      const settled = yield* settle({ ...first, ...took })
      assert.strictEqual(settled.json.outcomes[0].delivery.status, "delivered")
      yield* leasesEnd
      assert.strictEqual((yield* receiver.next).event.event_id, lost.event_id)
      const all = yield* eventually(attempts, ({ length }) => length === 4)
      assert.sameDeepMembers(
        [...all],
        [
          [1, "pull", true, 200, null],
          [1, "pull", false, null, "its outcome was not told in time"],
          [1, receiver.url, true, 200, null],
          [2, receiver.url, true, 200, null]
        ]
      )
      const refused = yield* lease()
      assert.strictEqual(refused.status, 409)
      assert.match(refused.json.error, /PATCH .* \{"pull": true\}/)
      const both = yield* deliver({ pull: true })
      assert.strictEqual(both.status, 409)
      assert.match(both.json.error, /^This domain has a webhook.*\{"webhookUrl": null\}$/)
      assert.isFalse((yield* domain).pull)
    })
  )

  it.effect("is held after pull is switched off, and an earlier lease accepts one outcome", () =>
    Effect.gen(function* () {
      const { attempts, deliver, due, events, lease, send, settle } = yield* taker
      yield* send("under way")
      const [first] = yield* due
      yield* send("waits")
      yield* events
      const off = yield* deliver({ pull: false })
      assert.isFalse(off.json.pull)
      yield* send("later")
      assert.strictEqual((yield* lease()).status, 409)
      const settled = yield* settle({ ...first, ...took })
      assert.strictEqual(settled.json.outcomes[0].delivery.status, "delivered")
      assert.deepStrictEqual(
        (yield* events).map(({ delivery }) => delivery.status),
        ["delivered", "held", "held"]
      )
      assert.lengthOf(yield* attempts, 1)
      yield* deliver({ pull: true })
      assert.lengthOf((yield* lease()).json.deliveries, 0)
    })
  )

  it.effect("is leased beside one whose secret can't be decrypted", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { due, inbox, send } = yield* taker
      const { json } = yield* inlet.call("POST", `/api/domains/${inbox.domainId}/webhooks`, {
        key: inbox.key,
        body: { pattern: "damaged", action: "pull", secret: "own" }
      })
      yield* sql`UPDATE webhooks SET signing_secret = ${Buffer.alloc(60)} WHERE id = ${json.webhook.id}`
      yield* Mail.send(inlet.smtpPort, { to: `damaged@${inbox.domain}`, subject: "damaged" })
      yield* send("whole")
      yield* eventually(
        sql`SELECT 1 FROM deliveries WHERE domain_id = ${inbox.domainId} AND status = 'pending'`,
        ({ length }) => length === 2
      )
      const leased = yield* due
      assert.deepStrictEqual(
        leased.map(({ body }) => JSON.parse(body).subject),
        ["whole"]
      )
    })
  )

  it.effect("is measured before it is read, and waits if it does not fit on a page", () =>
    Effect.gen(function* () {
      const { events, lease, send } = yield* taker
      for (const number of Array.range(1, 3)) yield* send(`mail ${number}`, "x".repeat(15_000))
      yield* events
      assert.lengthOf((yield* lease()).json.deliveries, 2)
      assert.lengthOf((yield* lease()).json.deliveries, 1)
    })
  )

  describe("by a request", () => {
    it.effect("that waits counts toward the waits of its workspace and times out with an empty list", () =>
      Effect.gen(function* () {
        const { lease } = yield* taker
        const answers = yield* Effect.replicateEffect(lease({ wait: 6 }), 3, { concurrency: 3 })
        const [first, second, third] = answers.toSorted((one, other) => one.status - other.status)
        assert.strictEqual(third?.status, 429)
        for (const answer of [first, second]) {
          assert.strictEqual(answer?.status, 200)
          assert.deepStrictEqual(answer?.json, { deliveries: [] })
        }
      })
    )

    it.effect("that exceeds a limit or is invalid answers 400", () =>
      Effect.gen(function* () {
        const { lease, settle } = yield* taker
        const one = { event_id: "01890000-0000-7000-8000-000000000000", attempt: 1, ...took }
        const many = Array.range(10, 26).map((number) => ({
          ...one,
          event_id: `01890000-0000-7000-8000-0000000000${number}`
        }))
        const expected = [
          [lease({ limit: 17 }), /^limit: Expected a whole number from 1 to 16$/],
          [lease({ wait: 61 }), /^wait: Expected a whole number from 0 to 60$/],
          [settle(), /^outcomes: Expected 1 to 16 outcomes, at most one of an event$/],
          [settle(...many), /^outcomes: Expected 1 to 16 outcomes/],
          [settle(one, { ...one, attempt: 2 }), /^outcomes: Expected 1 to 16 outcomes/],
          [settle({ ...one, error: "no answer" }), /^outcomes\.0\.statusCode: Expected a statusCode, or an error/],
          [settle({ ...one, statusCode: null }), /^outcomes\.0\.statusCode: Expected a statusCode, or an error/],
          [settle({ ...one, statusCode: 99 }), /^outcomes\.0\.statusCode: Expected a whole number from 100 to 599$/],
          [settle({ ...one, durationMs: -1 }), /^outcomes\.0\.durationMs: Expected a whole number/]
        ] as const
        for (const [asked, message] of expected) {
          const { json, status } = yield* asked
          assert.strictEqual(status, 400)
          assert.match(json.error, message)
        }
      })
    )

    it.effect("with a read key answers 403, because a lease changes the delivery", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { inbox } = yield* taker
        const made = yield* inlet.call("POST", "/api/workspaces/keys", { key: inbox.key, body: { scope: "read" } })
        for (const [path, body] of [
          ["lease", {}],
          ["settle", { outcomes: [] }]
        ] as const) {
          const { status } = yield* inlet.call("POST", `/api/domains/${inbox.domainId}/deliveries/${path}`, {
            key: made.json.api_key,
            body
          })
          assert.strictEqual(status, 403)
        }
      })
    )
  })
})
