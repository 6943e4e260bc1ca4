import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { WorkspaceId } from "../../../src/model/Workspace.ts"
import { endLeases, IdempotencyKeys } from "../../../src/workspaces/IdempotencyKeys.ts"
import { eventually } from "../../Eventually.ts"
import * as Mail from "../../Mail.ts"
import * as Mailbox from "../../Mailbox.ts"
import { TestInlet } from "../../TestInlet.ts"
import { WebhookReceiver } from "../../WebhookReceiver.ts"

/** A workspace that sends requests with an Idempotency-Key. */
const customer = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const { id, key } = yield* inlet.workspace
  return {
    id,
    key,
    post: (path: string, name: string, body?: unknown) =>
      inlet.call("POST", path, { key, body, headers: { "idempotency-key": name } }),
    get: (path: string) => inlet.call("GET", path, { key }),
    remove: (domainId: string) => inlet.call("DELETE", `/api/domains/${domainId}`, { key })
  }
})

const World = Layer.merge(TestInlet.layer(), WebhookReceiver.layer)

layer(World, { excludeTestServices: true })("A request with an Idempotency-Key", (it) => {
  it.effect("is executed once and answered the same on a retry", () =>
    Effect.gen(function* () {
      const { get, post, remove } = yield* customer
      const first = yield* post("/api/domains", "one", { domain: "once.example.com" })
      const again = yield* post("/api/domains", "one", { domain: "once.example.com" })
      assert.deepStrictEqual([again.status, again.text], [201, first.text])
      assert.deepStrictEqual(
        [first.headers["idempotency-replayed"], again.headers["idempotency-replayed"]],
        [undefined, "true"]
      )
      assert.lengthOf((yield* get("/api/domains")).json.domains, 1)
      yield* remove(first.json.id)
      assert.strictEqual((yield* post("/api/domains", "one", { domain: "once.example.com" })).text, first.text)
      assert.lengthOf((yield* get("/api/domains")).json.domains, 0)
    })
  )

  it.effect("is executed again if its process has gone, and one with an answer is not", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { post } = yield* customer
      yield* post("/api/domains", "whole", { domain: "whole.example.com" })
      yield* post("/api/domains", "cut-off", { domain: "cut.example.com" })
      yield* sql`UPDATE idempotency_keys SET answer = NULL WHERE key = 'cut-off'`
      assert.strictEqual((yield* post("/api/domains", "cut-off", { domain: "cut.example.com" })).status, 409)
      yield* endLeases(sql)
      const again = yield* post("/api/domains", "cut-off", { domain: "cut.example.com" })
      const whole = yield* post("/api/domains", "whole", { domain: "whole.example.com" })
      assert.deepStrictEqual(
        [again, whole].map(({ headers, status }) => [status, headers["idempotency-replayed"]]),
        [
          [409, undefined],
          [201, "true"]
        ]
      )
      assert.match(again.json.error, /^A workspace can have 1 domain/)
    })
  )

  it.effect("keeps its turn after an earlier one that counted as lost ends late", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* customer
      const keys = Context.get(yield* Layer.build(IdempotencyKeys.layer), IdempotencyKeys)
      const request = {
        workspaceId: WorkspaceId.make(id),
        route: "POST /api/domains",
        key: "frozen",
        fingerprint: new Uint8Array([1])
      }
      const turn = Effect.flatMap(keys.begin(request), (begun) =>
        "_tag" in begun ? Effect.die("an answer") : Effect.succeed(begun)
      )
      const answer = (body: string) => ({ _tag: "Response", status: 200, body }) as const
      const begun = yield* turn
      // The clock of the embedded database counts milliseconds, so a second turn could begin in the same one.
      const [earlier] = yield* sql<{ readonly begunAt: string }>`
        UPDATE idempotency_keys SET begun_at = begun_at - interval '6 minutes' WHERE key = 'frozen'
        RETURNING begun_at::text
      `
      const frozen = { ...begun, ...earlier }
      const second = yield* turn
      yield* keys.forget(frozen)
      assert.strictEqual((yield* Effect.flip(keys.begin(request)))._tag, "Conflict")
      yield* keys.keep(frozen, answer("late"))
      assert.strictEqual((yield* Effect.flip(keys.begin(request)))._tag, "Conflict")
      yield* keys.keep(second, answer("own"))
      assert.deepStrictEqual(yield* keys.begin(request), answer("own"))
    })
  )

  it.effect("buys once for concurrent repeats", () =>
    Effect.gen(function* () {
      const { get, post } = yield* customer
      const buy = post("/api/domains/purchase", "buy", { domain: "bought-once.com", years: 1 })
      const answers = yield* Effect.replicateEffect(buy, 8, { concurrency: "unbounded" })
      for (const { json, status } of answers) {
        assert.include([201, 409], status)
        if (status === 409)
          assert.match(json.error, /^Idempotency-Key: The first request with this key is still running/)
      }
      const last = yield* buy
      assert.deepStrictEqual([last.status, last.json.status], [201, "completed"])
      assert.lengthOf((yield* get("/api/domains/orders")).json.orders, 1)
      assert.strictEqual((yield* get("/api/domains/wallet")).json.balance_cents, 3_702)
    })
  )

  it.effect("queues one replay", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const inbox = yield* inlet.inbox(receiver.url)
      yield* Mail.send(inlet.smtpPort, { to: inbox.address })
      yield* receiver.next
      const [event] = yield* eventually(Mailbox.events(inbox), ([one]) => one?.delivery.status === "delivered")
      const replay = inlet.call("POST", `/api/domains/${inbox.domainId}/events/${event?.event_id}/replay?force=true`, {
        key: inbox.key,
        headers: { "idempotency-key": "again" }
      })
      const [first, second] = [yield* replay, yield* replay]
      assert.deepStrictEqual([first.status, second.status, second.text], [202, 202, first.text])
      const attempts = Effect.map(
        inlet.call("GET", `/api/domains/${inbox.domainId}/delivery-attempts`, { key: inbox.key }),
        ({ json }) => json.deliveryAttempts
      )
      yield* eventually(attempts, (all) => all.length === 2)
      yield* Effect.sleep("300 millis")
      assert.lengthOf(yield* attempts, 2)
    })
  )

  it.effect("repeats a refusal, and a new key executes again", () =>
    Effect.gen(function* () {
      const { post, remove } = yield* customer
      const first = yield* post("/api/domains", "a", { domain: "first.example.com" })
      const full = yield* post("/api/domains", "b", { domain: "second.example.com" })
      assert.strictEqual(full.status, 409)
      yield* remove(first.json.id)
      const again = yield* post("/api/domains", "b", { domain: "second.example.com" })
      assert.deepStrictEqual([again.status, again.text], [409, full.text])
      assert.strictEqual((yield* post("/api/domains", "c", { domain: "second.example.com" })).status, 201)
    })
  )

  it.effect("answers 422 for the key of another request, and 400 for an invalid key", () =>
    Effect.gen(function* () {
      const { post } = yield* customer
      yield* post("/api/domains", "one", { domain: "one.example.com" })
      const other = yield* post("/api/domains", "one", { domain: "other.example.com" })
      assert.deepStrictEqual(
        [other.status, other.json.error],
        [422, "Idempotency-Key: This key was used for another request. Use a new key for each request"]
      )
      // Keys are separate for each route and workspace.
      assert.strictEqual((yield* post("/api/instant-inbox", "one")).status, 201)
      const stranger = yield* customer
      assert.strictEqual((yield* stranger.post("/api/domains", "one", { domain: "own.example.com" })).status, 201)
      assert.strictEqual((yield* post("/api/instant-inbox", "x".repeat(256))).status, 400)
    })
  )

  it.effect("is executed again after a day, or after its process died", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id, post } = yield* customer
      assert.strictEqual((yield* post("/api/instant-inbox", "day")).status, 201)
      assert.strictEqual((yield* post("/api/instant-inbox", "day")).status, 201)
      yield* sql`UPDATE idempotency_keys SET begun_at = now() - interval '25 hours' WHERE workspace_id = ${id}`
      assert.strictEqual((yield* post("/api/instant-inbox", "day")).status, 200)
      yield* sql`UPDATE idempotency_keys SET answer = NULL WHERE workspace_id = ${id}`
      assert.strictEqual((yield* post("/api/instant-inbox", "day")).status, 409)
      yield* sql`UPDATE idempotency_keys SET begun_at = now() - interval '6 minutes' WHERE workspace_id = ${id}`
      assert.strictEqual((yield* post("/api/instant-inbox", "day")).status, 200)
    })
  )
})
