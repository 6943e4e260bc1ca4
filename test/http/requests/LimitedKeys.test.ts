import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Fiber } from "effect"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import * as Mark from "../../../src/events/Mark.ts"
import { Api } from "../../../src/http/api/Api.ts"
import { Authorization } from "../../../src/http/requests/Authorization.ts"
import { LimitedKeys } from "../../../src/http/requests/LimitedKeys.ts"
import { DomainId } from "../../../src/model/Domain.ts"
import type { Method } from "../../../src/testing/ApiCall.ts"
import { eventually } from "../../Eventually.ts"
import * as Mail from "../../Mail.ts"
import * as Mailbox from "../../Mailbox.ts"
import * as OpenWaits from "../../OpenWaits.ts"
import * as ServerSentEvents from "../../ServerSentEvents.ts"
import { TestInlet } from "../../TestInlet.ts"

/** Every route that a key with a limit may call. All others are refused. */
const expected: Readonly<Record<string, "filtered" | "open">> = {
  "GET /api/workspace": "filtered",
  "GET /api/domains": "filtered",
  "GET /api/domains/:id": "filtered",
  "GET /api/domains/:id/mx": "open",
  "GET /api/domains/:id/dns": "open",
  "GET /api/domains/:id/health": "filtered",
  "GET /api/domains/:id/refusals": "filtered",
  "GET /api/domains/:id/webhooks": "filtered",
  "GET /api/domains/:id/webhooks/match": "filtered",
  "GET /api/domains/:id/webhooks/:webhookId": "filtered",
  "GET /api/events": "filtered",
  "GET /api/events/:eventId": "filtered",
  "GET /api/domains/:id/events": "filtered",
  "GET /api/domains/:id/events/stream": "filtered",
  "GET /api/domains/:id/events/:eventId": "filtered",
  "GET /api/domains/:id/events/:eventId/raw": "filtered",
  "GET /api/domains/:id/events/:eventId/content": "filtered",
  "GET /api/domains/:id/events/:eventId/attachments/:index": "filtered",
  "GET /api/domains/:id/events/:eventId/html": "filtered",
  "GET /api/trace": "filtered",
  "POST /api/domains/:id/deliveries/lease": "filtered",
  "POST /api/domains/:id/deliveries/settle": "filtered"
}

/** The routes that require a key, as declared in the API. */
const routes = Effect.sync(() => {
  const all: Array<{ readonly method: Method; readonly path: string; readonly limited: string }> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, middleware }) => {
      if (![...middleware].some(({ key }) => key === Authorization.key)) return
      all.push({
        // They include those of the API.
        method: endpoint.method as Method,
        path: endpoint.path,
        limited: Context.get(endpoint.annotations, LimitedKeys)
      })
    }
  })
  return all
})

describe("Every route with a key", () => {
  it.effect("refuses keys with a limit unless it declares how it filters", () =>
    Effect.gen(function* () {
      const declared = (yield* routes).filter(({ limited }) => limited !== "refused")
      assert.deepStrictEqual(
        Object.fromEntries(declared.map(({ limited, method, path }) => [`${method} ${path}`, limited])),
        expected
      )
    })
  )
})

/** Words of the mail that the key must not see. */
const secret = "SENTINEL-OF-ANOTHER"

/** A workspace with mail to agent-7 and agent-8, and a key that sees that of agent-7. */
const workspace = Effect.fnUntraced(function* (limit: object = { pattern: "agent-7" }) {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  const { domain, domainId, key } = inbox
  const receive = Effect.fnUntraced(function* (to: string, mail: Parameters<typeof Mail.send>[1] = {}) {
    yield* Mail.send(inlet.smtpPort, { to: `${to}@${domain}`, ...mail })
    const events = yield* Mailbox.events(inbox)
    return events.find(({ recipient }) => recipient === `${to}@${domain}`)?.event_id as string
  })
  const made = yield* inlet.call("POST", "/api/workspaces/keys", { key, body: { scope: "read", ...limit } })
  assert.strictEqual(made.status, 201, made.text)
  const limited = made.json.api_key as string
  return {
    ...inbox,
    limited,
    keyId: made.json.id as string,
    receive,
    /** A call of the API with the limited key. */
    ask: (method: Method, path: string, body?: unknown) =>
      inlet.call(method, path, { key: limited, ...(body === undefined ? {} : { body }) }),
    at: `/api/domains/${domainId}`
  }
})

const hidden = {
  subject: secret,
  text: `Your verification code is 739204. ${secret}`,
  html: `<p>${secret}</p>`,
  attachments: [{ filename: `${secret}.txt`, content: secret }]
}

const recipientsOf = (events: ReadonlyArray<{ readonly recipient: string }>) =>
  events.map(({ recipient }) => recipient.slice(0, recipient.indexOf("@")))

layer(
  TestInlet.layer({ MAX_DOMAINS_PER_WORKSPACE: "5", MAX_EMAILS_PER_DAY: "0", HTTP_MAX_WAITS_PER_WORKSPACE: "10" }),
  { excludeTestServices: true }
)("A key with a pattern", (it) => {
  it.effect("is created with a pattern in lower case, and listed with it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { ask, domainId, key, limited } = yield* workspace({ pattern: "Agent-7" })
      assert.match(limited, /^ak_read_/)
      const { json } = yield* inlet.call("GET", "/api/workspaces/keys", { key })
      assert.deepInclude(json.keys[0], { scope: "read", pattern: "agent-7", domain_id: null })
      const own = yield* ask("GET", "/api/workspace")
      assert.deepStrictEqual(own.json.key_limit, { pattern: "agent-7", domain_id: null })
      assert.notProperty(own.json, "used")
      const bad = [{ pattern: "a@b.example" }, { pattern: "" }, { domain_id: "1" }]
      for (const body of bad) {
        const { status } = yield* inlet.call("POST", "/api/workspaces/keys", { key, body: { scope: "read", ...body } })
        assert.strictEqual(status, 400)
      }
      const other = yield* inlet.inbox()
      const foreign = yield* inlet.call("POST", "/api/workspaces/keys", {
        key: other.key,
        body: { scope: "read", domain_id: domainId }
      })
      assert.strictEqual(foreign.status, 404)
    })
  )

  it.effect("is not found by the hash that earlier versions look up", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { ask, at, keyId, limited } = yield* workspace()
      const found = yield* sql`SELECT 1 FROM workspace_keys WHERE hash = sha256(${limited}::text::bytea)`
      assert.lengthOf(found, 0)
      // Without its pattern it opens nothing.
      yield* sql`UPDATE workspace_keys SET pattern = NULL WHERE id = ${keyId}`
      assert.strictEqual((yield* ask("GET", `${at}/events`)).status, 401)
    })
  )

  it.effect("is refused with 403 on every route that does not filter", () =>
    Effect.gen(function* () {
      const { ask, domainId, receive } = yield* workspace()
      const own = yield* receive("agent-7")
      for (const { limited, method, path } of yield* routes) {
        if (limited !== "refused") continue
        const filled = path
          .replace(":eventId", own)
          .replace(":webhookId", domainId)
          .replace(/:(\w+)/g, domainId)
        const { json, status, text } = yield* ask(
          method,
          filled,
          method === "GET" || method === "DELETE" ? undefined : {}
        )
        assert.strictEqual(status, 403, `${method} ${path}: ${text}`)
        assert.match(json.error, /^This key sees only mail for agent-7: /)
      }
    })
  )

  it.effect("sees mail to its name, with and without a tag, on every route of an event", () =>
    Effect.gen(function* () {
      const { ask, at, receive } = yield* workspace()
      const own = yield* receive("agent-7", { html: "<p>Hi</p>", attachments: [{ filename: "a.txt", content: "a" }] })
      const tagged = yield* receive("Agent-7+github")
      for (const id of [own, tagged]) {
        assert.strictEqual((yield* ask("GET", `${at}/events/${id}`)).json.event_id, id)
      }
      for (const part of ["raw", "content", "attachments/0", "html"]) {
        assert.strictEqual((yield* ask("GET", `${at}/events/${own}/${part}`)).status, 200, part)
      }
    })
  )

  it.effect("gets for another address's event what it gets for one that does not exist", () =>
    Effect.gen(function* () {
      const { ask, at, receive } = yield* workspace()
      const other = yield* receive("agent-8", hidden)
      const like = yield* receive("agent-77", hidden)
      const none = `${other.slice(0, -4)}0000`
      const parts = ["", "/raw", "/content", "/content?part=hidden", "/attachments/0", "/html"]
      for (const part of parts) {
        const missing = yield* ask("GET", `${at}/events/${none}${part}`)
        assert.strictEqual(missing.status, 404)
        for (const id of [other, like]) {
          const { status, text } = yield* ask("GET", `${at}/events/${id}${part}`)
          assert.deepStrictEqual([status, text], [404, missing.text], part)
        }
      }
      const query = ["after", "cursor"]
      for (const name of query) {
        const missing = yield* ask("GET", `${at}/events?${name}=${none}`)
        const { status, text } = yield* ask("GET", `${at}/events?${name}=${other}`)
        assert.deepStrictEqual([status, text], [400, missing.text], name)
      }
    })
  )

  it.effect("finds only its mail by any filter of the lists", () =>
    Effect.gen(function* () {
      const { ask, at, domain, domainId, receive } = yield* workspace()
      yield* receive("agent-8", { ...hidden, from: "spy@acme.example" })
      yield* receive("agent-7", { subject: "mine" })
      const filters = [
        "",
        `recipient=agent-8@${domain}`,
        "from=spy@acme.example",
        "delivery=held",
        `delivery=held&recipient=agent-8@${domain}`,
        "has=code",
        "has=attachment",
        "has=code&delivery=held",
        `subject=${secret}`,
        "recipientPart=agent-8",
        "fromPart=spy",
        "sender=person",
        "newerThan=1h",
        "since=2020-01-01T00:00:00Z",
        `webhook=${domainId}`,
        "order=asc",
        "view=brief",
        "after=start",
        "after=start&order=asc"
      ]
      for (const filter of filters) {
        for (const path of [`${at}/events`, "/api/events"]) {
          if (path === "/api/events" && /order|after/.test(filter)) continue
          const { json, status, text } = yield* ask("GET", `${path}?${filter}`)
          assert.strictEqual(status, 200, text)
          assert.notInclude(text, secret, filter)
          assert.notInclude(recipientsOf(json.events), "agent-8", filter)
        }
      }
      for (const path of [`${at}/events`, "/api/events"]) {
        assert.deepStrictEqual(recipientsOf((yield* ask("GET", path)).json.events), ["agent-7"])
      }
    })
  )

  it.effect("finds no mail of another address in its conversation", () =>
    Effect.gen(function* () {
      const { ask, at, key, receive } = yield* workspace()
      const root = "<root@acme.example>"
      const other = yield* receive("agent-8", { ...hidden, messageId: root })
      yield* receive("agent-7", { subject: "Re", inReplyTo: root, references: root })
      const { json } = yield* (yield* TestInlet).call("GET", `${at}/events/${other}`, { key })
      const found = yield* ask("GET", `${at}/events?thread=${json.threadId}`)
      assert.deepStrictEqual(recipientsOf(found.json.events), ["agent-7"])
    })
  )

  it.effect("is refused the cursors and marks of another key, also those beyond the last mail", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { ask, at, domainId, key, receive } = yield* workspace()
      for (const to of ["agent-7", "agent-8"]) yield* receive(to, hidden)
      const { cursor_now, next_cursor } = (yield* inlet.call("GET", `${at}/events?limit=1`, { key })).json
      const all = (yield* inlet.call("GET", "/api/events?limit=1", { key })).json
      const beyond = Mark.encode(DomainId.make(domainId), { kind: "now", position: 3n })
      const answers = yield* Effect.forEach(
        [
          `${at}/events?cursor=${next_cursor}`,
          `/api/events?cursor=${all.next_cursor}`,
          `${at}/events?after=${cursor_now}`,
          `${at}/events?after=${beyond}`
        ],
        (path) => ask("GET", path)
      )
      for (const { json, status } of answers) {
        assert.strictEqual(status, 400)
        assert.match(json.error, /^This cursor was not given to this key\. /)
      }
    })
  )

  it.effect("gets cursors that tell nothing of the number of mails, and that no other key can use", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { ask, at, domainId, key, receive } = yield* workspace()
      for (const to of ["agent-7", "agent-8", "agent-8", "agent-7", "agent-9"]) yield* receive(to)
      const first = yield* ask("GET", `${at}/events?limit=1`)
      const all = yield* ask("GET", "/api/events?limit=1")
      const { cursor_now: now, next_cursor: next } = first.json
      const cursors = [now, next, all.json.next_cursor]
      const again = (yield* ask("GET", `${at}/events?limit=1`)).json
      for (const cursor of cursors) assert.isUndefined(Mark.decode(DomainId.make(domainId), cursor))
      assert.notInclude([again.cursor_now, again.next_cursor], now)
      for (const [path, cursor] of [
        [`${at}/events?limit=1&cursor=`, next],
        ["/api/events?limit=1&cursor=", all.json.next_cursor]
      ]) {
        const second = yield* ask("GET", `${path}${cursor}`)
        assert.deepStrictEqual(recipientsOf(second.json.events), ["agent-7"])
      }
      assert.deepStrictEqual((yield* ask("GET", `${at}/events?after=${now}`)).json.events, [])
      const made = yield* inlet.call("POST", "/api/workspaces/keys", {
        key,
        body: { scope: "read", pattern: "agent-7" }
      })
      for (const other of [key, made.json.api_key]) {
        for (const query of [`cursor=${next}`, `after=${now}`]) {
          assert.strictEqual((yield* inlet.call("GET", `${at}/events?${query}`, { key: other })).status, 400)
        }
      }
    })
  )

  it.effect("waits for its own mail, and other mail ends no wait", () =>
    Effect.gen(function* () {
      const { ask, at, receive } = yield* workspace()
      const waiting = yield* Effect.forkChild(ask("GET", `${at}/events?wait=30&after=latest`))
      yield* OpenWaits.are(1)
      yield* receive("agent-8", hidden)
      const own = yield* receive("agent-7")
      const { json } = yield* Fiber.join(waiting)
      assert.deepStrictEqual(
        json.events.map(({ event_id }: { readonly event_id: string }) => event_id),
        [own]
      )
    })
  )

  it.effect("streams its own mail alone, also after the event of another address", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { at, domainId, limited, receive } = yield* workspace()
      const follow = (after: string) => ServerSentEvents.follow({ domainId, key: limited }, after)
      const other = yield* receive("agent-8", hidden)
      const own = yield* receive("agent-7")
      assert.strictEqual((yield* follow(other)).status, 400)
      const stream = yield* follow("start")
      assert.strictEqual((yield* stream.next).id, own)
      yield* receive("agent-8", hidden)
      const next = yield* receive("agent-7+b")
      assert.strictEqual((yield* stream.next).id, next)
      const signed = yield* inlet.call("GET", `${at}/events/stream?signed=true`, { key: limited })
      assert.strictEqual(signed.status, 403)
    }).pipe(Effect.scoped)
  )

  it.effect("finds in a page of bounded cost, with a cursor past other mail", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { ask, at, domain, domainId, receive } = yield* workspace()
      const own = yield* receive("agent-7")
      yield* sql`
        WITH mail AS (SELECT * FROM events WHERE id = ${own}), copies AS (
          INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload, traits)
          SELECT gen_random_uuid(), domain_id, inbound_email_id, position + number, ${`agent-8@${domain}`}, sender,
            received_at, payload, traits
          FROM mail CROSS JOIN generate_series(1, 6000) AS number RETURNING id, position
        ), placed AS (
          UPDATE event_positions SET position = position + 6000 WHERE domain_id = ${domainId}
        )
        INSERT INTO deliveries (event_id, domain_id, position, status, due_at)
        SELECT id, ${domainId}, position, 'held', now() FROM copies
      `
      const first = yield* ask("GET", `${at}/events`)
      assert.deepStrictEqual(first.json.events, [])
      const second = yield* ask("GET", `${at}/events?cursor=${first.json.next_cursor}`)
      assert.deepStrictEqual(recipientsOf(second.json.events), ["agent-7"])
      assert.isNull(second.json.next_cursor)
      // Its own address has an index.
      const exact = yield* ask("GET", `${at}/events?recipient=agent-7@${domain}`)
      assert.deepStrictEqual(recipientsOf(exact.json.events), ["agent-7"])
      const everywhere = yield* ask("GET", "/api/events")
      assert.deepStrictEqual([everywhere.json.events, everywhere.json.next_cursor === null], [[], false])
    })
  )

  it.effect("traces its own mail and refusals, without other recipients", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { ask, at, domain, key, receive } = yield* workspace()
      yield* inlet.call("POST", `${at}/webhooks`, { key, body: { pattern: "agent-*", action: "reject" } })
      for (const to of ["agent-8", "agent-7"]) {
        yield* Effect.flip(Mail.send(inlet.smtpPort, { to: `${to}@${domain}`, from: "spy@acme.example" }))
      }
      const [{ id }] = (yield* inlet.call("GET", `${at}/webhooks`, { key })).json.webhooks
      yield* inlet.call("DELETE", `${at}/webhooks/${id}`, { key })
      yield* receive("agent-8", {
        ...hidden,
        to: [`agent-8@${domain}`, `agent-7@${domain}`],
        messageId: "<a@b.example>"
      })
      yield* receive("agent-9", { ...hidden, messageId: "<c@b.example>" })
      // Written in the background.
      yield* eventually(inlet.call("GET", `${at}/refusals`, { key }), ({ json }) => json.refusals.length === 2)

      const { json } = yield* ask("GET", `${at}/refusals`)
      assert.deepStrictEqual(recipientsOf(json.refusals), ["agent-7"])
      for (const filter of [`recipient=agent-8@${domain}`, "from=spy@acme.example&reason=unknown"]) {
        assert.deepStrictEqual((yield* ask("GET", `${at}/refusals?${filter}`)).json.refusals, [], filter)
      }
      const searches = [
        "",
        `to=${domain}`,
        `to=agent-8@${domain}`,
        "from=spy@acme.example",
        "from=acme.example",
        `subject=${secret}`,
        "message_id=a@b.example",
        "message_id=c@b.example",
        "until=2100-01-01T00:00:00Z",
        "since=2020-01-01T00:00:00Z"
      ]
      for (const search of searches) {
        const { status, text } = yield* ask("GET", `/api/trace?${search}`)
        assert.strictEqual(status, 200, text)
        assert.notMatch(text, /agent-[89]/, search === `to=agent-8@${domain}` ? "" : search)
      }
      const traced = yield* ask("GET", "/api/trace")
      assert.deepStrictEqual(recipientsOf(traced.json.entries), ["agent-7", "agent-7"])
      assert.sameMembers(
        traced.json.entries.map(({ outcome }: { readonly outcome: string }) => outcome),
        ["held", "refused"]
      )
    })
  )

  it.effect("reads nothing of other refusals in the hint of a wait", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { ask, at, domain, domainId, key } = yield* workspace()
      yield* inlet.call("POST", `${at}/webhooks`, { key, body: { pattern: "agent-8", action: "reject" } })
      const waiting = yield* Effect.forkChild(ask("GET", `${at}/events?wait=3`))
      yield* OpenWaits.are(1)
      yield* Effect.flip(Mail.send(inlet.smtpPort, { to: `agent-8@${domain}` }))
      yield* eventually(sql`SELECT 1 FROM refusals WHERE domain_id = ${domainId}`, (rows) => rows.length === 1)
      const { json } = yield* Fiber.join(waiting)
      assert.notProperty(json, "hint")
    })
  )

  it.effect("sees no webhook of others among the kinds of its own", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { ask, at, domain, key } = yield* workspace()
      const make = (pattern: string, kinds: Readonly<Record<string, string>> = {}) =>
        Effect.map(
          inlet.call("POST", `${at}/webhooks`, { key, body: { pattern, kinds } }),
          ({ json }) => json.webhook.id as string
        )
      const other = yield* make("agent-8")
      const shared = yield* make("agent-*")
      const own = yield* make("agent-7", { bounce: other, calendar: shared })
      const kinds = { calendar: shared }
      assert.deepStrictEqual((yield* ask("GET", `${at}/webhooks/${own}`)).json.kinds, kinds)
      const match = yield* ask("GET", `${at}/webhooks/match?recipient=agent-7@${domain}`)
      assert.deepStrictEqual(match.json.webhook.kinds, kinds)
      assert.notInclude((yield* ask("GET", `${at}/webhooks`)).text, other)
      const whole = (yield* inlet.call("GET", `${at}/webhooks/${own}`, { key })).json.kinds
      assert.deepStrictEqual(whole, { bounce: other, calendar: shared })
    })
  )

  it.effect("sees webhooks that may take its mail, and not the patterns of others", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { ask, at, domain, domainId, key } = yield* workspace()
      const ids: Record<string, string> = {}
      for (const pattern of ["agent-7", "agent-8", "agent-*", "*-bot", "agent-7+*"]) {
        const { json } = yield* inlet.call("POST", `${at}/webhooks`, { key, body: { pattern } })
        ids[pattern] = json.webhook.id
      }
      const { json } = yield* ask("GET", `${at}/webhooks`)
      const patterns = json.webhooks.map(({ pattern }: { readonly pattern: string }) => pattern)
      assert.sameMembers(patterns, ["agent-7", "agent-7+*", "agent-*", "*-bot", "*"])
      assert.strictEqual((yield* ask("GET", `${at}/webhooks/${ids["agent-8"]}`)).status, 404)
      assert.strictEqual((yield* ask("GET", `${at}/webhooks/${ids["agent-7"]}`)).status, 200)
      const match = yield* ask("GET", `${at}/webhooks/match?recipient=agent-7@${domain}`)
      assert.strictEqual(match.json.webhook.pattern, "agent-7")
      assert.notInclude(match.text, "agent-8")
      const other = yield* ask("GET", `${at}/webhooks/match?recipient=agent-8@${domain}`)
      assert.strictEqual(other.status, 400)
      const byWebhook = yield* ask("GET", `${at}/events?webhook=${domainId}`)
      assert.strictEqual(byWebhook.status, 200)
    })
  )

  it.effect("sees no counts of the domain's mail, quota and refusals", () =>
    Effect.gen(function* () {
      const { ask, at, receive } = yield* workspace()
      yield* receive("agent-8", hidden)
      const health = yield* ask("GET", `${at}/health`)
      const checks = health.json.checks.map(({ check }: { readonly check: string }) => check)
      assert.include(checks, "domain")
      for (const check of ["webhook", "quota", "last_mail", "refusals"]) assert.notInclude(checks, check)
      const domain = yield* ask("GET", at)
      assert.isNull(domain.json.webhook_failing)
    })
  )

  it.effect("leases and settles deliveries of its own mail alone", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { ask, at, key, receive } = yield* workspace()
      const { json: made } = yield* inlet.call("POST", `${at}/webhooks`, {
        key,
        body: { pattern: "agent-8", action: "pull" }
      })
      yield* inlet.call("PATCH", `${at}/delivery`, { key, body: { pull: true } })
      const other = yield* receive("agent-8", hidden)
      const another = yield* receive("agent-9", hidden)
      const own = yield* receive("agent-7")
      const { json, text } = yield* ask("POST", `${at}/deliveries/lease`, {})
      assert.notInclude(text, secret)
      assert.deepStrictEqual(
        json.deliveries.map(({ event_id }: { readonly event_id: string }) => event_id),
        [own]
      )
      const none = yield* ask("POST", `${at}/deliveries/lease`, { webhook_id: made.webhook.id })
      assert.strictEqual(none.status, 404)

      const { json: leased } = yield* inlet.call("POST", `${at}/deliveries/lease`, { key, body: {} })
      assert.lengthOf(leased.deliveries, 2)
      const outcome = (event_id: string) => ({ event_id, attempt: 1, statusCode: 200, durationMs: 1 })
      const settled = yield* ask("POST", `${at}/deliveries/settle`, {
        outcomes: [outcome(other), outcome(another), outcome(own)]
      })
      assert.deepStrictEqual(
        settled.json.outcomes.map(({ delivery, status }: { readonly status: number; delivery: unknown }) => [
          status,
          delivery === null
        ]),
        [
          [409, true],
          [409, true],
          [200, false]
        ]
      )
      const { json: still } = yield* inlet.call("GET", `${at}/events/${other}`, { key })
      assert.strictEqual(still.delivery.status, "pending")
    })
  )

  it.effect("that waits for a lease gets its own delivery, and no other one", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { ask, at, key, receive } = yield* workspace()
      yield* inlet.call("PATCH", `${at}/delivery`, { key, body: { pull: true } })
      const waiting = yield* Effect.forkChild(ask("POST", `${at}/deliveries/lease`, { wait: 30 }))
      yield* OpenWaits.are(1)
      yield* receive("agent-8", hidden)
      const own = yield* receive("agent-7")
      const { json } = yield* Fiber.join(waiting)
      assert.strictEqual(json.deliveries[0].event_id, own)
      assert.lengthOf(json.deliveries, 1)
    })
  )

  it.effect("takes a glob, in which no other character has a meaning", () =>
    Effect.gen(function* () {
      for (const [pattern, taken, others] of [
        ["agent_*", ["agent_1", "agent_x+y"], ["agent-1", "agentx1"]],
        ["*-bot", ["a-bot", "-bot"], ["a-bots", "bot"]],
        ["a%b", ["a%b", "a%b+tag"], ["axb", "a%bc"]],
        ["support+*", ["support+x"], ["support"]]
      ] as const) {
        const { ask, at, receive } = yield* workspace({ pattern })
        for (const to of [...taken, ...others]) yield* receive(to, hidden)
        const { json } = yield* ask("GET", `${at}/events?order=asc`)
        assert.deepStrictEqual(recipientsOf(json.events), [...taken], pattern)
      }
    })
  )

  it.effect("with a domain sees no other domain, and ends with it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const added = yield* inlet.call("POST", "/api/domains", {
        key: inbox.key,
        body: { domain: "limited.example.com" }
      })
      yield* sql`UPDATE domains SET status = 'verified', verified_at = now() WHERE id = ${added.json.id}`
      const made = yield* inlet.call("POST", "/api/workspaces/keys", {
        key: inbox.key,
        body: { scope: "read", domain_id: added.json.id }
      })
      assert.deepInclude(made.json, { pattern: "*", domain_id: added.json.id })
      const ask = (path: string) => inlet.call("GET", path, { key: made.json.api_key })
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, ...hidden })
      yield* Mail.send(inlet.smtpPort, { to: "agent@limited.example.com", subject: "mine" })
      yield* Mailbox.events({ key: inbox.key, domainId: added.json.id })
      const [event] = yield* Mailbox.events(inbox)
      const { json: domains } = yield* ask("/api/domains")
      assert.lengthOf(domains.domains, 1)
      assert.strictEqual(
        (yield* ask("/api/domains/wallet")).json.error,
        "This key sees only mail of one domain: GET /api/domains/wallet requires the workspace's own key, `Authorization: Bearer ak_live_…`"
      )
      assert.deepStrictEqual(recipientsOf((yield* ask("/api/events")).json.events), ["agent"])
      assert.notInclude((yield* ask("/api/trace")).text, inbox.domain)
      const other = `/api/domains/${inbox.domainId}`
      const missing = "/api/domains/01890000-0000-7000-8000-000000000000"
      for (const { limited, method, path } of yield* routes) {
        if (limited === "refused" || method !== "GET" || !path.includes("/:id")) continue
        const fill = (at: string) =>
          `${path
            .replace("/api/domains/:id", at)
            .replace(":eventId", event.event_id)
            .replace(":webhookId", inbox.domainId)
            .replace(":index", "0")}${path.endsWith("match") ? `?recipient=${inbox.address}` : ""}`
        const nothing = yield* ask(fill(missing))
        assert.strictEqual(nothing.status, 404, path)
        assert.strictEqual((yield* ask(fill(other))).text, nothing.text, path)
      }
      yield* inlet.call("DELETE", `/api/domains/${added.json.id}`, { key: inbox.key })
      assert.strictEqual((yield* ask("/api/domains")).status, 401)
    })
  )

  it.effect("opens no session of the console", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { limited } = yield* workspace()
      const signedIn = yield* inlet.call("POST", "/api/console/session", {
        body: { key: limited },
        headers: { "x-inlet-console": "1", "sec-fetch-site": "same-origin" }
      })
      assert.strictEqual(signedIn.status, 403, signedIn.text)
      assert.match(signedIn.json.error, /^This key sees only mail for agent-7/)
    })
  )
})
