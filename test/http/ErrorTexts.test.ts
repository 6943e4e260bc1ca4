import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

layer(TestInlet.layer(), { excludeTestServices: true })("An error", (it) => {
  it.effect("about a key says whether it is missing, truncated, wrong or revoked", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key, secret } = yield* inlet.workspace
      const errorFor = (given?: string) =>
        Effect.map(inlet.call("GET", "/api/domains", { key: given }), ({ json }) => json.error as string)
      const missing = yield* errorFor()
      assert.match(missing, /^The API key is missing: .*POST \/api\/workspaces makes one$/)
      const other = yield* inlet.call("GET", "/api/domains", { headers: { authorization: key } })
      assert.strictEqual(other.status, 401)
      assert.match(other.json.error, /^The Authorization header has no API key behind `Bearer`: send one as /)
      const cut = yield* errorFor(key.slice(0, -1))
      assert.match(cut, /^This is not a complete API key. .* 43 characters behind ak_live_$/)
      assert.match(yield* errorFor(secret), /^This is a webhook signing secret: /)
      const read = yield* inlet.call("POST", "/api/workspaces/keys", { key, body: { scope: "read" } })
      assert.match(
        yield* errorFor(read.json.api_key.slice(0, -1)),
        /^This is not a complete API key. .*: Bearer ak_read_…`, with 43 characters behind ak_read_$/
      )
      yield* inlet.call("DELETE", `/api/workspaces/keys/${read.json.id}`, { key })
      assert.match(yield* errorFor(read.json.api_key), /^This API key opens no workspace here: it was revoked, /)
      yield* inlet.call("POST", "/api/workspaces/rotate-key", { key })
      assert.match(yield* errorFor(key), /^This API key opens no workspace here: it was replaced, /)
    })
  )

  it.effect("about a missing body names the expected fields", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, key } = yield* inlet.inbox()
      const expected = [
        ["POST", "/api/workspaces", "name"],
        ["POST", "/api/workspaces/keys", "scope"],
        ["POST", "/api/domains", "domain"],
        ["POST", "/api/domains/purchase", "domain and years"],
        ["PATCH", `/api/domains/${domainId}/delivery`, "webhookUrl or pull"],
        ["POST", `/api/domains/${domainId}/simulate`, "sample or recipient"],
        ["POST", `/api/domains/${domainId}/deliveries/settle`, "outcomes"]
      ] as const
      for (const [method, path, fields] of expected) {
        for (const body of [undefined, "[]", "null", '"name"']) {
          const { json, status } = yield* inlet.call(method, path, { key, body })
          assert.strictEqual(status, 400)
          assert.strictEqual(json.error, `The body: Expected a JSON object with ${fields}, sent as application/json`)
        }
      }
    })
  )

  it.effect("about a time shows one, for any value that is no time", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, key } = yield* inlet.inbox()
      const asked = (since: string) => inlet.call("GET", `/api/domains/${domainId}/events?since=${since}`, { key })
      const form = "since: Expected a time such as 2026-01-31T12:00:00Z"
      for (const wrong of ["yesterday", "2026-02-30T00:00:00Z", "2026-13-01", "2026-11-27T25:00:00Z", "12026-01-01"]) {
        const { json, status } = yield* asked(wrong)
        assert.deepStrictEqual([status, json.error], [400, form], wrong)
      }
      const plus = yield* asked("2026-11-27T17:00:00+02:00")
      assert.deepStrictEqual([plus.status, plus.json.error], [400, `${form}, with %2B for the + of a time zone`])
      for (const right of ["2026-11-27T17:00:00%2B02:00", "2028-02-29", "2026-11-27T17:00:00.123Z"]) {
        assert.strictEqual((yield* asked(right)).status, 200, right)
      }
    })
  )

  it.effect("about a search names only the invalid parameter", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      const errorOf = (query: string) =>
        Effect.map(inlet.call("GET", `/api/domains/search?${query}`, { key }), ({ json }) => json.error as string)
      assert.match(yield* errorOf("q=bad_label&tlds=com,net"), /^q: Expected a label such as example/)
      assert.match(yield* errorOf("q=-"), /^q: Expected a label /)
      assert.match(yield* errorOf("q=example&tlds=com,!"), /^tlds: Expected TLDs /)
      assert.match(yield* errorOf("q=example.com&tlds=co.uk.x.y"), /^tlds: Expected TLDs /)
    })
  )

  it.effect("about an id names it and the expected form", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, key } = yield* inlet.inbox()
      const domain = yield* inlet.call("GET", "/api/domains/example.com", { key })
      assert.strictEqual(domain.status, 404)
      assert.match(domain.json.error, /^id: Expected a UUID, as the lists /)
      const event = yield* inlet.call("GET", `/api/domains/${domainId}/events/1`, { key })
      assert.match(event.json.error, /^eventId: Expected a UUID, /)
      const attachment = `/api/domains/${domainId}/events/${domainId}/attachments/first`
      assert.match(
        (yield* inlet.call("GET", attachment, { key })).json.error,
        /^index: Expected a whole number from 0 to /
      )
    })
  )

  it.effect("about a demo cookie says whether it is missing or expired", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const errorFor = (headers: Readonly<Record<string, string>>) =>
        Effect.map(inlet.call("GET", "/api/demo/events", { headers }), ({ json }) => json.error as string)
      assert.match(yield* errorFor({}), /^The cookie inlet_demo is missing\. POST \/api\/demo\/inbox creates /)
      assert.match(yield* errorFor({ cookie: `inlet_demo=${"x".repeat(43)}` }), /^This demo inbox has expired\. /)
    })
  )

  it.effect("about a domain limit names the existing domain and how to remove it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      yield* inlet.call("POST", "/api/domains", { key, body: { domain: "first.example.com" } })
      const { json, status } = yield* inlet.call("POST", "/api/domains", {
        key,
        body: { domain: "second.example.com" }
      })
      assert.strictEqual(status, 409)
      assert.match(
        json.error,
        /^A workspace can have 1 domain of its own, and has first\.example\.com\. Ask the operator for more, or remove one with /
      )
    })
  )

  it.effect("about a replay says whether the webhook is missing or the domain is disabled", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: inbox.address })
      const [event] = yield* Mailbox.events(inbox)
      const replay = Effect.map(
        inlet.call("POST", `/api/domains/${inbox.domainId}/events/${event.event_id}/replay`, { key: inbox.key }),
        ({ json }) => json.error as string
      )
      assert.match(yield* replay, /^This domain has no webhook: set one with PATCH /)
      yield* sql`
        UPDATE domains SET status = 'disabled', status_before = 'verified', disabled_reason = 'spam trap'
        WHERE id = ${inbox.domainId}
      `
      assert.strictEqual(yield* replay, "This domain is disabled: spam trap")
    })
  )
})
