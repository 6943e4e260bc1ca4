import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const changed = Effect.fnUntraced(function* (inbox: { readonly key: string; readonly domainId: string }, url: string) {
  const inlet = yield* TestInlet
  return yield* inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, {
    key: inbox.key,
    body: { webhookUrl: url }
  })
})

/** An inbox with one event, and a function that replays it. */
const replayable = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const receiver = yield* WebhookReceiver.make
  const inbox = yield* inlet.inbox(receiver.url)
  yield* Mail.send(inlet.smtpPort, { to: inbox.address })
  const { event } = yield* receiver.next
  // Before, a replay is done by the attempt that is under way.
  yield* eventually(Mailbox.events(inbox), ([one]) => one?.delivery.status === "delivered")
  const path = `/api/domains/${inbox.domainId}/events/${event.event_id}/replay?force=true`
  const replay = inlet.call("POST", path, { key: inbox.key })
  return { receiver, inbox, replay }
})

describe("A workspace", () => {
  layer(TestInlet.layer({ REPLAYS_PER_MINUTE: "3", WEBHOOK_CHANGES_PER_MINUTE: "3" }), {
    excludeTestServices: true
  })("in one minute", (it) => {
    it.effect("has limited replays and receives Retry-After, separately from other workspaces", () =>
      Effect.gen(function* () {
        const { receiver, replay } = yield* replayable
        for (let count = 0; count < 3; count++) assert.strictEqual((yield* replay).status, 202)
        const { headers, json, status } = yield* replay
        assert.strictEqual(status, 429)
        assert.strictEqual(json.error, `A workspace may make 3 replays a minute. Retry in ${headers["retry-after"]} s`)
        assert.isAtLeast(Number(headers["retry-after"]), 1)
        assert.isAtMost(Number(headers["retry-after"]), 60)
        yield* eventually(receiver.all, (requests) => requests.length >= 2)
        assert.strictEqual((yield* (yield* replayable).replay).status, 202)
      })
    )

    it.effect("has limited domain searches, which ask the registrars of all", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { id, key } = yield* inlet.workspace
        const sql = yield* SqlClient.SqlClient
        const search = inlet.call("GET", "/api/domains/search?q=agent&tlds=test", { key })
        assert.strictEqual((yield* search).status, 200)
        yield* sql`UPDATE client_limits SET count = 1000 WHERE action = 'domain search' AND client = ${id}`
        const { json, status } = yield* search
        assert.deepStrictEqual(
          [status, json.error],
          [429, "A workspace may make 1000 domain searches a day. Retry after midnight UTC"]
        )
      })
    )

    it.effect("does not spend webhook changes that are refused", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domainId, key } = yield* inlet.inbox("http://127.0.0.1:9/first")
        const at = `/api/domains/${domainId}`
        const noreply = { key, body: { pattern: "noreply" } }
        assert.strictEqual((yield* inlet.call("POST", `${at}/webhooks`, noreply)).status, 201)
        for (let count = 0; count < 3; count++) {
          assert.strictEqual((yield* inlet.call("POST", `${at}/webhooks`, noreply)).status, 409)
          assert.strictEqual((yield* inlet.call("PATCH", `${at}/delivery`, { key, body: { pull: true } })).status, 409)
          for (const wrong of [
            { webhookUrl: "http://127.0.0.1:9/#f" },
            { webhookUrl: "http://127.0.0.1:9/", format: "x" }
          ]) {
            const body = { pattern: "other", ...wrong }
            assert.strictEqual((yield* inlet.call("POST", `${at}/webhooks`, { key, body })).status, 400)
            assert.strictEqual((yield* inlet.call("PATCH", `${at}/delivery`, { key, body: wrong })).status, 400)
          }
        }
        const sql = yield* SqlClient.SqlClient
        const counts = yield* sql`
          SELECT count FROM client_limits WHERE action = 'webhook change'
            AND client = (SELECT workspace_id::text FROM domains WHERE id = ${domainId})
        `
        assert.deepStrictEqual(counts, [{ count: 2 }])
        assert.strictEqual(
          (yield* inlet.call("PATCH", `${at}/delivery`, { key, body: { webhookUrl: null } })).status,
          200
        )
        assert.strictEqual((yield* inlet.call("PATCH", `${at}/delivery`, { key, body: { pull: true } })).status, 429)
      })
    )

    it.effect("has limited webhook changes", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox("http://127.0.0.1:9/first")
        for (let count = 2; count <= 3; count++) {
          assert.strictEqual((yield* changed(inbox, `http://127.0.0.1:9/${count}`)).status, 200)
        }
        const { headers, json, status } = yield* changed(inbox, "http://127.0.0.1:9/4")
        assert.strictEqual(status, 429)
        assert.strictEqual(
          json.error,
          `A workspace may make 3 webhook changes a minute. Retry in ${headers["retry-after"]} s`
        )
        const { json: domain } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}`, { key: inbox.key })
        assert.strictEqual(domain.webhookUrl, "http://127.0.0.1:9/3")
      })
    )
  })

  layer(TestInlet.layer({ REPLAYS_PER_DAY: "2", WEBHOOK_CHANGES_PER_DAY: "2", REPLAYS_PER_MINUTE: "0" }), {
    excludeTestServices: true
  })("in a UTC day", (it) => {
    it.effect("has daily limits across all processes, with Retry-After until midnight", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { inbox, replay } = yield* replayable
        for (let count = 0; count < 2; count++) assert.strictEqual((yield* replay).status, 202)
        const { headers, json, status } = yield* replay
        assert.strictEqual(status, 429)
        assert.strictEqual(json.error, "A workspace may make 2 replays a day. Retry after midnight UTC")
        assert.isAtMost(Number(headers["retry-after"]), 86_400)
        assert.strictEqual((yield* changed(inbox, "http://127.0.0.1:9/2")).status, 200)
        assert.strictEqual((yield* changed(inbox, "http://127.0.0.1:9/3")).status, 429)
        // Yesterday's operations do not count.
        yield* sql`UPDATE client_limits SET day = day - 1`
        assert.strictEqual((yield* replay).status, 202)
      })
    )
  })
})
