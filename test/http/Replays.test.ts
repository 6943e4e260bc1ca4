import { assert, layer } from "@effect/vitest"
import { Array, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DomainId } from "../../src/model/Domain.ts"
import * as Deliveries from "../delivery/Deliveries.ts"
import { eventually } from "../Eventually.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const nobodys = "01890000-0000-7000-8000-000000000000"

/** An inbox with this many dead deliveries, and its requests. */
const withDead = Effect.fnUntraced(function* (count: number) {
  const inlet = yield* TestInlet
  const receiver = yield* WebhookReceiver
  const sql = yield* SqlClient.SqlClient
  const inbox = yield* inlet.inbox(receiver.url)
  // Dead at once, before a worker finds them.
  yield* sql`UPDATE webhooks SET url = NULL, action = 'hold' WHERE id = ${inbox.domainId}`
  const ids = yield* Deliveries.pending(DomainId.make(inbox.domainId), count)
  yield* sql`UPDATE deliveries SET status = 'dead', attempts = 11 WHERE domain_id = ${inbox.domainId}`
  yield* sql`UPDATE webhooks SET action = 'webhook', url = ${receiver.url} WHERE id = ${inbox.domainId}`
  const path = `/api/domains/${inbox.domainId}/replays`
  const call = (method: "GET" | "POST" | "DELETE", rest = "", body?: unknown) =>
    inlet.call(method, `${path}${rest}`, { key: inbox.key, ...(body === undefined ? {} : { body }) })
  return { call, ids, domainId: inbox.domainId }
})

layer(TestInlet.layer({ REPLAYS_PER_MINUTE: "0" }).pipe(Layer.provideMerge(WebhookReceiver.layer)), {
  excludeTestServices: true
})("A replay job of the API", (it) => {
  it.effect("tells which deliveries failed because their webhook takes none", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { domainId, key } = yield* inlet.inbox()
      yield* inlet.call("POST", `/api/domains/${domainId}/webhooks`, {
        key,
        body: { pattern: "agent-*", webhookUrl: receiver.url }
      })
      yield* Deliveries.pending(DomainId.make(domainId), 3)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE deliveries SET status = 'held' WHERE domain_id = ${domainId}`
      const path = `/api/domains/${domainId}/replays`
      const started = yield* inlet.call("POST", path, { key, body: { status: "held" } })
      const { json } = yield* eventually(
        inlet.call("GET", `${path}/${started.json.id}`, { key }),
        ({ json }) => json.state === "done"
      )
      assert.deepInclude(json, { total: 3, queued: 0, delivered: 0, failed: 3, unserved: 3 })
    })
  )

  it.effect("is counted with dry_run, delivers every dead event, and reports its progress", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver
      yield* receiver.answerAlways(200)
      const { call, ids } = yield* withDead(30)
      const counted = yield* call("POST", "", { status: "dead", dry_run: true })
      assert.deepStrictEqual([counted.status, counted.json], [200, { total: 30 }])
      const started = yield* call("POST", "", { status: "dead", since: "2026-01-01T00:00:00Z" })
      assert.strictEqual(started.status, 202)
      assert.deepInclude(started.json, {
        status: "dead",
        recipient: null,
        state: "running",
        total: 30,
        finished_at: null
      })
      const { json } = yield* eventually(call("GET", `/${started.json.id}`), ({ json }) => json.state === "done")
      assert.deepInclude(json, { total: 30, queued: 30, delivered: 30, failed: 0 })
      const requests = yield* receiver.all
      assert.sameMembers(
        requests.map(({ headers }) => headers["x-service-event-id"]),
        ids
      )
      assert.deepStrictEqual((yield* call("GET")).json, { replays: [json], next_cursor: null })
    })
  )

  it.effect("is stopped by DELETE, and refused without a webhook, for pending deliveries, and for unknown ids", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* WebhookReceiver
      yield* receiver.answerAlways(500)
      const { call, domainId } = yield* withDead(300)
      const started = yield* call("POST", "", { status: "dead" })
      const again = yield* call("POST", "", { status: "held" })
      assert.strictEqual(again.status, 202)
      assert.deepInclude(again.json, { state: "done", total: 0 })
      const second = yield* call("POST", "", { status: "dead" })
      assert.strictEqual(second.status, 409)
      assert.include(second.json.error, started.json.id)
      const stopped = yield* call("DELETE", `/${started.json.id}`)
      assert.deepStrictEqual([stopped.status, stopped.json.state], [200, "stopped"])
      for (const method of ["GET", "DELETE"] as const) {
        assert.strictEqual((yield* call(method, `/${nobodys}`)).status, 404)
      }
      const pending = yield* call("POST", "", { status: "pending" })
      assert.deepStrictEqual([pending.status, pending.json.error], [400, "status: Expected dead, held or delivered"])
      assert.strictEqual((yield* call("POST", "", { status: "dead", since: "yesterday" })).status, 400)
      yield* sql`UPDATE webhooks SET url = NULL, action = 'hold' WHERE id = ${domainId}`
      const unserved = yield* call("POST", "", { status: "dead" })
      assert.strictEqual(unserved.status, 409)
      assert.match(unserved.json.error, /no webhook: set one with PATCH/)
    })
  )

  it.effect("is limited to 20 a day", () =>
    Effect.gen(function* () {
      const { call } = yield* withDead(1)
      const answers = yield* Effect.forEach(Array.range(1, 21), () => call("POST", "", { status: "held" }))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [...Array.replicate(202, 20), 429]
      )
    })
  )
})
