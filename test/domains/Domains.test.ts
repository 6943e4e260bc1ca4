import { assert, describe, layer } from "@effect/vitest"
import { Array, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const uuidV7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Registers a name and returns the whole answer. */
const register = Effect.fnUntraced(function* (key: string, domain: unknown) {
  const inlet = yield* TestInlet
  return yield* inlet.call("POST", "/api/domains", { key, body: { domain } })
})

/** Verifies a domain without DNS. */
const verified = (domainId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE domains SET status = 'mx_pending', verified_at = now() WHERE id = ${domainId}`
  })

const statuses = (answers: ReadonlyArray<{ readonly status: number }>) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b)

describe("Domains", () => {
  layer(TestInlet.layer(), { excludeTestServices: true })("with one own domain for each workspace", (it) => {
    it.effect("registers a name and returns its DNS records", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        const { json, status } = yield* register(key, "Agents.Example.COM.")

        assert.strictEqual(status, 201)
        assert.match(json.id, uuidV7)
        assert.match(json.txt_value, /^service_verify_[\da-f]{32}$/)
        assert.match(json.created_at, time)
        assert.deepStrictEqual(json, {
          id: json.id,
          domain: "agents.example.com",
          origin: "byo",
          status: "pending_verification",
          disabled_reason: null,
          txt_name: "_service-verify.agents.example.com",
          txt_value: json.txt_value,
          mx_target: "mx.inlet.test",
          webhookUrl: null,
          webhookFormat: "inlet",
          webhookBasicAuth: false,
          pull: false,
          webhook_paused_at: null,
          catch_all: "hold",
          spam: "tag",
          created_at: json.created_at,
          verified_at: null,
          live_at: null
        })
        const again = yield* inlet.call("GET", `/api/domains/${json.id}`, { key })
        assert.strictEqual(again.status, 200)
        assert.deepStrictEqual(again.json, { ...json, webhook_failing: null })
      })
    )

    it.effect("lists only the domains of the workspace, newest first", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        yield* inlet.inbox()
        const { key } = yield* inlet.workspace
        assert.deepStrictEqual((yield* inlet.call("GET", "/api/domains", { key })).json, {
          domains: [],
          next_cursor: null
        })

        const own = yield* register(key, "listed.example.com")
        yield* inlet.call("POST", "/api/instant-inbox", { key })
        const { json, status } = yield* inlet.call("GET", "/api/domains", { key })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(
          json.domains.map(({ origin }: { readonly origin: string }) => origin),
          ["instant", "byo"]
        )
        assert.deepStrictEqual(json.domains[1], own.json)
      })
    )

    it.effect("rejects an invalid name and names the field", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        for (const name of [
          "co.uk",
          "127.0.0.1",
          "localhost",
          "ｅxample.com",
          "_dmarc.example.com",
          "",
          "a\0.com",
          5,
          null
        ]) {
          const { json, status } = yield* register(key, name)
          assert.strictEqual(status, 400, `${name}`)
          assert.match(json.error, /^domain: Expected /)
        }
        assert.deepStrictEqual((yield* inlet.call("GET", "/api/domains", { key })).json.domains, [])
      })
    )

    it.effect("reserves the platform domain and its subdomains", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        const inbox = yield* inlet.inbox()
        for (const name of ["inlet.test", "INLET.test.", "www.inlet.test", "inbox.inlet.test", inbox.domain]) {
          const { json, status } = yield* register(key, name)
          assert.strictEqual(status, 400, name)
          assert.match(json.error, /^domain: inlet\.test belongs to this service/)
        }
        assert.strictEqual((yield* register(key, "notinlet.test")).status, 201)
      })
    )

    it.effect("answers 409 to a second domain in any state, and to the same name again", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        const first = yield* register(key, "first.example.com")
        const second = yield* register(key, "second.example.com")
        assert.strictEqual(second.status, 409)
        assert.match(second.json.error, /can have 1 domain/)
        const same = yield* register(key, "FIRST.example.com")
        assert.strictEqual(same.status, 409)
        assert.match(same.json.error, /already in this workspace/)

        yield* verified(first.json.id)
        assert.strictEqual((yield* register(key, "second.example.com")).status, 409)
      })
    )

    it.effect("does not count the instant inbox", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.inbox()
        assert.strictEqual((yield* register(key, "beside-instant.example.com")).status, 201)

        const other = yield* inlet.workspace
        yield* register(other.key, "before-instant.example.com")
        assert.strictEqual((yield* inlet.call("POST", "/api/instant-inbox", { key: other.key })).status, 201)
      })
    )

    it.effect("accepts one of twenty concurrent registrations", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        const answers = yield* Effect.forEach(Array.range(1, 20), (n) => register(key, `race-${n}.example.com`), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(statuses(answers), [201, ...Array.replicate(409, 19)])
        assert.lengthOf((yield* inlet.call("GET", "/api/domains", { key })).json.domains, 1)
      })
    )

    it.effect("accepts one of twenty concurrent registrations of the same name", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        const answers = yield* Effect.forEach(Array.range(1, 20), () => register(key, "same-race.example.com"), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(statuses(answers), [201, ...Array.replicate(409, 19)])
      })
    )

    it.effect("lets several workspaces wait for a name, each with its own TXT value", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const ada = yield* inlet.workspace
        const bob = yield* inlet.workspace
        const hers = yield* register(ada.key, "wanted.example.com")
        const his = yield* register(bob.key, "wanted.example.com")
        assert.strictEqual(hers.status, 201)
        assert.strictEqual(his.status, 201)
        assert.notStrictEqual(hers.json.txt_value, his.json.txt_value)
      })
    )

    it.effect("registers a name that another workspace holds, and its subdomain", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const holder = yield* inlet.workspace
        const held = yield* register(holder.key, "held.example.com")
        yield* verified(held.json.id)

        const other = yield* inlet.workspace
        assert.strictEqual((yield* register(other.key, "held.example.com")).status, 201)
        const third = yield* inlet.workspace
        assert.strictEqual((yield* register(third.key, "mail.held.example.com")).status, 201)
        const { json } = yield* inlet.call("GET", `/api/domains/${held.json.id}`, { key: holder.key })
        assert.strictEqual(json.status, "mx_pending")
      })
    )

    it.effect("removes a domain from the API, the mail server and the disk", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* inlet.workspace
        const domain = yield* register(key, "detached.example.com")
        const domainId: string = domain.json.id
        const path = `/api/domains/${domainId}`
        yield* verified(domainId)
        yield* Mail.send(inlet.smtpPort, { to: "agent@detached.example.com" })
        const [event] = yield* Mailbox.events({ domainId, key })
        assert.lengthOf(yield* Mailbox.stored(domainId), 1)

        const removed = yield* inlet.call("DELETE", path, { key })
        assert.strictEqual(removed.status, 204)
        assert.strictEqual(removed.text, "")
        for (const gone of ["", "/mx", "/events", `/events/${event.event_id}`, "/delivery-attempts"]) {
          const { json, status } = yield* inlet.call("GET", `${path}${gone}`, { key })
          assert.strictEqual(status, 404, gone)
          assert.deepStrictEqual(Object.keys(json), ["error"])
        }
        assert.deepStrictEqual((yield* inlet.call("GET", "/api/domains", { key })).json.domains, [])
        assert.strictEqual((yield* inlet.call("DELETE", path, { key })).status, 404)

        const refused = yield* Effect.flip(Mail.send(inlet.smtpPort, { to: "agent@detached.example.com" }))
        assert.strictEqual(refused.code, 550)
        yield* eventually(Mailbox.onDisk(domainId), (left) => left.length === 0)
        for (const table of ["inbound_emails", "events", "deliveries", "delivery_attempts"]) {
          const rows = yield* sql`SELECT 1 FROM ${sql(table)} WHERE domain_id = ${domainId}`
          assert.lengthOf(rows, 0, table)
        }
      })
    )

    it.effect("accepts a new domain after a removal, with a new TXT value", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        const first = yield* register(key, "again.example.com")
        yield* inlet.call("DELETE", `/api/domains/${first.json.id}`, { key })
        const second = yield* register(key, "again.example.com")
        assert.strictEqual(second.status, 201)
        assert.notStrictEqual(second.json.id, first.json.id)
        assert.notStrictEqual(second.json.txt_value, first.json.txt_value)
      })
    )
  })

  layer(
    TestInlet.layer({
      MAX_DOMAINS_PER_WORKSPACE: "2",
      PLATFORM_DOMAIN: "Platform.Example",
      MX_HOST: "mail.example.net"
    }),
    {
      excludeTestServices: true
    }
  )("with two own domains each", (it) => {
    it.effect("accepts a second domain and refuses a third", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        const answers = yield* Effect.forEach(["one.example.com", "two.example.com", "three.example.com"], (name) =>
          register(key, name)
        )
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [201, 201, 409]
        )
        assert.match(answers[2]?.json.error, /can have 2 domains/)
        assert.strictEqual(answers[0]?.json.mx_target, "mail.example.net")
      })
    )

    it.effect("answers 409 to a name that the workspace has", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        yield* register(key, "twice.example.com")
        const { json, status } = yield* register(key, "twice.example.com.")
        assert.strictEqual(status, 409)
        assert.match(json.error, /^twice\.example\.com is already in this workspace/)
      })
    )

    it.effect("creates instant inboxes on the configured platform domain", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domain } = yield* inlet.inbox()
        assert.match(domain, /^[a-z\d]{10}\.inbox\.platform\.example$/)
      })
    )
  })
})
