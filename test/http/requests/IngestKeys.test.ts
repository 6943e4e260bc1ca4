import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../../../src/http/api/Api.ts"
import { Authorization } from "../../../src/http/requests/Authorization.ts"
import * as Mailbox from "../../Mailbox.ts"
import { TestInlet } from "../../TestInlet.ts"

const uuid = "01890000-0000-7000-8000-000000000000"

const route = "POST /api/domains/:id/ingest"

/** The routes that need a key. */
const routes = Effect.sync(() => {
  const all: Array<readonly [method: string, path: string]> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, middleware }) => {
      if ([...middleware].some(({ key }) => key === Authorization.key)) all.push([endpoint.method, endpoint.path])
    }
  })
  return all
})

/** A key of the workspace beside its own. */
const makeKey = Effect.fnUntraced(function* (key: string, body: object) {
  const inlet = yield* TestInlet
  return yield* inlet.call("POST", "/api/workspaces/keys", { key, body })
})

const hand = Effect.fnUntraced(function* (key: string, { domain, domainId }: { domain: string; domainId: string }) {
  const inlet = yield* TestInlet
  return yield* inlet.call("POST", `/api/domains/${domainId}/ingest?from=a@b.example&recipient=inbox@${domain}`, {
    key,
    body: "Subject: hello\r\n\r\n",
    headers: { "content-type": "message/rfc822" }
  })
})

layer(TestInlet.layer({ SENDER_CHECKS: "false" }), { excludeTestServices: true })("An ingest key", (it) => {
  it.effect("hands mail over, and is refused on every other route, by MCP and by the console", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { json, status } = yield* makeKey(inbox.key, { scope: "ingest", name: "relay" })
      assert.deepInclude(json, { scope: "ingest", name: "relay", pattern: null, domain_id: null })
      assert.strictEqual(status, 201)
      assert.match(json.api_key, /^ak_ingest_[\w-]{43}$/)
      assert.strictEqual(json.begins, json.api_key.slice(0, 14))
      const key: string = json.api_key

      const all = yield* routes
      assert.isAbove(all.length, 30)
      for (const [method, path] of all) {
        if (`${method} ${path}` === route) continue
        // Each is a method of the API.
        const answer = yield* inlet.call(method as "GET", path.replaceAll(/:\w+/g, uuid), { key })
        assert.deepStrictEqual(
          [answer.status, answer.json.error.slice(0, 30)],
          [403, "An ingest key (ak_ingest_…) on"],
          `${method} ${path}`
        )
      }
      const mcp = yield* inlet.call("POST", "/mcp", { key, body: { jsonrpc: "2.0", id: 1, method: "tools/list" } })
      assert.strictEqual(mcp.status, 403)
      const console = yield* inlet.call("POST", "/api/console/session", { body: { key } })
      assert.strictEqual(console.status, 403)

      assert.strictEqual((yield* hand(key, inbox)).status, 202)
      assert.lengthOf(yield* Mailbox.events(inbox), 1)
      const listed = yield* inlet.call("GET", "/api/workspaces/keys", { key: inbox.key })
      assert.isNotNull(listed.json.keys[0].last_used_at)
      yield* inlet.call("DELETE", `/api/workspaces/keys/${json.id}`, { key: inbox.key })
      assert.strictEqual((yield* hand(key, inbox)).status, 401)
    })
  )

  it.effect("of one domain hands mail over for no other, and takes no pattern", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const other = yield* inlet.call("POST", "/api/domains", { key: inbox.key, body: { domain: "other.example" } })
      const { json } = yield* makeKey(inbox.key, { scope: "ingest", domain_id: inbox.domainId })
      assert.deepInclude(json, { scope: "ingest", domain_id: inbox.domainId })
      assert.strictEqual((yield* hand(json.api_key, inbox)).status, 202)
      const elsewhere = yield* hand(json.api_key, { domain: "other.example", domainId: other.json.id })
      assert.strictEqual(elsewhere.status, 404)
      const patterned = yield* makeKey(inbox.key, { scope: "ingest", pattern: "agent-*" })
      assert.deepStrictEqual([patterned.status, patterned.json.error.slice(0, 8)], [400, "pattern:"])
    })
  )

  it.effect("opens no other workspace's domain", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const [own, other] = [yield* inlet.inbox(), yield* inlet.inbox()]
      const { json } = yield* makeKey(own.key, { scope: "ingest" })
      assert.strictEqual((yield* hand(json.api_key, other)).status, 404)
      assert.deepStrictEqual(yield* Mailbox.stored(other.domainId), [])
    })
  )
})

layer(TestInlet.layer({ SENDER_CHECKS: "false" }), { excludeTestServices: true })("The ingest route", (it) => {
  it.effect("takes the workspace's own key, and no read key", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      assert.strictEqual((yield* hand(inbox.key, inbox)).status, 202)
      for (const limit of [{}, { pattern: "inbox" }, { domain_id: inbox.domainId }]) {
        const { json } = yield* makeKey(inbox.key, { scope: "read", ...limit })
        assert.strictEqual((yield* hand(json.api_key, inbox)).status, 403)
      }
    })
  )
})
