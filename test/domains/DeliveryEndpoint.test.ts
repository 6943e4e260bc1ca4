import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DnsServer } from "../DnsServer.ts"
import * as ForbiddenUrls from "../delivery/ForbiddenUrls.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import { TestInlet } from "../TestInlet.ts"

/** Sets the webhook and returns the whole answer. */
const patch = Effect.fnUntraced(function* (inbox: { readonly key: string; readonly domainId: string }, body: unknown) {
  const inlet = yield* TestInlet
  return yield* inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, { key: inbox.key, body })
})

const webhookOf = Effect.fnUntraced(function* (inbox: { readonly key: string; readonly domainId: string }) {
  const inlet = yield* TestInlet
  const { json } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}`, { key: inbox.key })
  return json.webhookUrl as string | null
})

const production = Layer.unwrap(
  Effect.map(DnsServer, ({ server }) =>
    TestInlet.layer({
      NODE_ENV: "production",
      DATABASE_URL: "postgres://unused.example.com/inlet",
      SECRETS_KEY: Buffer.alloc(32, 7).toString("base64"),
      SERVICE_PUBLIC_URL: "https://inlet.example.com",
      PLATFORM_DOMAIN: "inlet.example.com",
      HTTP_HOST: "127.0.0.1",
      SMTP_HOST: "127.0.0.1",
      DNS_SERVERS: server
    })
  )
).pipe(Layer.provideMerge(DnsServer.layer))

/** Development with public addresses only. */
const guarded = Layer.unwrap(
  Effect.map(DnsServer, ({ server }) =>
    TestInlet.layer({
      ALLOW_PRIVATE_WEBHOOKS: "false",
      WEBHOOK_DENY: "93.184.0.0/16",
      WEBHOOK_CHANGES_PER_MINUTE: "0",
      DNS_SERVERS: server
    })
  )
).pipe(Layer.provideMerge(DnsServer.layer))

describe("The delivery endpoint", () => {
  layer(TestInlet.layer({ ADMIN_TOKEN: "operator" }), { excludeTestServices: true })("in development", (it) => {
    it.effect("sets the webhook and returns it", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { json, status } = yield* patch(inbox, { webhookUrl: "http://LOCALHOST:4000/hook?a=b" })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(json, {
          id: inbox.domainId,
          domain: inbox.domain,
          status: "verified",
          webhookUrl: "http://localhost:4000/hook?a=b",
          pull: false,
          format: "inlet",
          basicAuth: false
        })
        assert.strictEqual(yield* webhookOf(inbox), "http://localhost:4000/hook?a=b")
      })
    )

    it.effect("clears the webhook with null", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox("https://example.com/hook")
        const { json, status } = yield* patch(inbox, { webhookUrl: null })
        assert.strictEqual(status, 200)
        assert.isNull(json.webhookUrl)
        assert.isNull(yield* webhookOf(inbox))
      })
    )

    it.effect("answers 400 to an invalid URL and keeps the current one", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox("https://example.com/kept")
        const bodies = [
          { webhookUrl: "" },
          { webhookUrl: "/hook" },
          { webhookUrl: "ftp://example.com/" },
          { webhookUrl: "https://user:password@example.com/" },
          { webhookUrl: "https://example.com/#fragment" },
          { webhookUrl: `https://example.com/${"a".repeat(2_048)}` },
          { webhookUrl: 5 },
          { webhookUrl: ["https://example.com/"] },
          {}
        ]
        for (const body of bodies) {
          const { json, status } = yield* patch(inbox, body)
          assert.strictEqual(status, 400, JSON.stringify(body).slice(0, 80))
          assert.match(json.error, /^webhookUrl: Expected /)
          assert.deepStrictEqual(Object.keys(json), ["error"])
        }
        const misspelled = yield* patch(inbox, { url: "https://example.com/" })
        assert.strictEqual(misspelled.status, 400)
        assert.match(misspelled.json.error, /^url: There is no such field; this route has webhookUrl, /)
        assert.strictEqual(yield* webhookOf(inbox), "https://example.com/kept")
      })
    )

    it.effect("answers 409 for an unverified domain", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { key } = yield* inlet.workspace
        const { json: domain } = yield* inlet.call("POST", "/api/domains", {
          key,
          body: { domain: "new.example.com" }
        })
        for (const webhookUrl of ["https://example.com/hook", null]) {
          const { json, status } = yield* patch({ key, domainId: domain.id }, { webhookUrl })
          assert.strictEqual(status, 409)
          assert.match(json.error, /^new\.example\.com is not verified yet/)
        }
        assert.isNull(yield* webhookOf({ key, domainId: domain.id }))
      })
    )

    it.effect("changes nothing through a webhook at the ports of the service", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* inlet.inbox()
        const here = sql`SELECT id, status, name FROM domains UNION ALL SELECT id, name, '' FROM workspaces ORDER BY id`
        const before = yield* here
        const outcomes: Array<number | null> = []
        for (const url of [
          `http://127.0.0.1:${inlet.smtpPort}/`,
          `${inlet.url}/api/workspaces`,
          `${inlet.url}/api/instant-inbox`,
          `${inlet.url}/api/webhooks/stripe`,
          `${inlet.url}/admin/domains/${inbox.domain}/disable`
        ]) {
          assert.strictEqual((yield* patch(inbox, { webhookUrl: url })).status, 200)
          if (outcomes.length === 0) yield* Mail.send(inlet.smtpPort, { to: inbox.address })
          const { json } = yield* eventually(
            inlet.call("GET", `/api/domains/${inbox.domainId}/delivery-attempts`, { key: inbox.key }),
            ({ json }) => json.deliveryAttempts.length > outcomes.length
          )
          const { ok, statusCode } = json.deliveryAttempts[0]
          assert.isFalse(ok)
          outcomes.push(statusCode)
        }
        assert.deepStrictEqual(outcomes, [null, 400, 401, 404, 404])
        assert.deepStrictEqual(yield* here, before)
      })
    )

    it.effect("answers 409 for a disabled domain", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox("https://example.com/kept")
        yield* inlet.call("POST", `/admin/domains/${inbox.domain}/disable`, { key: "operator" })
        const { json, status } = yield* patch(inbox, { webhookUrl: "https://example.com/other" })
        assert.strictEqual(status, 409)
        assert.match(json.error, /is disabled: disabled by the operator$/)
        assert.strictEqual(yield* webhookOf(inbox), "https://example.com/kept")
      })
    )
  })

  layer(guarded, { excludeTestServices: true })("with public addresses only", (it) => {
    it.effect("answers 400 to every spelling of a private address and keeps the current URL", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        yield* dns.answer("A", "hooks.example.com", { address: "1.1.1.1" })
        const inbox = yield* inlet.inbox("https://hooks.example.com/kept")
        for (const [typed] of [...ForbiddenUrls.literals, ...ForbiddenUrls.names]) {
          const { json, status } = yield* patch(inbox, { webhookUrl: typed })
          assert.strictEqual(status, 400, typed)
          assert.match(
            json.error,
            /\s/.test(typed)
              ? /^webhookUrl: Expected a URL without spaces and control characters$/
              : /^webhookUrl: (what \S+ resolves to|\S+) is not a public address\. Expected a host/
          )
        }
        for (const typed of ForbiddenUrls.others) {
          const { json, status } = yield* patch(inbox, { webhookUrl: typed })
          assert.strictEqual(status, 400, typed)
          assert.match(json.error, /^webhookUrl: Expected /)
        }
        assert.strictEqual(yield* webhookOf(inbox), "https://hooks.example.com/kept")
      })
    )

    it.effect("answers 400 to a name that resolves to a forbidden address or to none, with the next step", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        const inbox = yield* inlet.inbox()
        yield* dns.answer("A", "inside.example.com", { address: "10.0.0.5" })
        yield* dns.answer("A", "alias.example.com", { alias: "inside.example.com" })
        yield* dns.answer("A", "six.example.com", { address: "1.1.1.1" })
        yield* dns.answer("AAAA", "six.example.com", { address: "fd00::5" })
        yield* dns.answer("A", "denied.example.com", { address: "93.184.215.14" })
        yield* dns.answer("A", "broken.example.com", "SERVFAIL")
        const publicOnly = "Expected a host with public addresses alone; the operator can allow others (WEBHOOK_ALLOW)"
        for (const [host, error] of [
          ["inside", `what inside.example.com resolves to is not a public address. ${publicOnly}`],
          ["alias", `what alias.example.com resolves to is not a public address. ${publicOnly}`],
          ["six", `what six.example.com resolves to is not a public address. ${publicOnly}`],
          ["denied", `what denied.example.com resolves to is a denied address. ${publicOnly}`],
          [
            "missing",
            "missing.example.com does not resolve. Expected a host that has addresses in DNS; publish them first"
          ],
          [
            "broken",
            "DNS did not answer for broken.example.com (ServerFailure). Try again in a minute, or check the name servers of the host"
          ]
        ] as const) {
          const { json, status } = yield* patch(inbox, { webhookUrl: `http://${host}.example.com:8080/hook` })
          assert.strictEqual(status, 400)
          assert.deepStrictEqual(json, { error: `webhookUrl: ${error}` })
        }
        assert.isNull(yield* webhookOf(inbox))
      })
    )
  })

  layer(production, { excludeTestServices: true })("in production", (it) => {
    it.effect("accepts https and answers 400 to http", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        yield* dns.answer("A", "hooks.example.com", { address: "93.184.215.14" })
        const inbox = yield* inlet.inbox()
        const refused = yield* patch(inbox, { webhookUrl: "http://hooks.example.com/hook" })
        assert.strictEqual(refused.status, 400)
        assert.match(refused.json.error, /^webhookUrl: Expected an https URL/)
        const taken = yield* patch(inbox, { webhookUrl: "https://hooks.example.com/hook" })
        assert.strictEqual(taken.status, 200)
        assert.strictEqual(taken.json.webhookUrl, "https://hooks.example.com/hook")
        for (const host of ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "missing.example.com"]) {
          assert.strictEqual((yield* patch(inbox, { webhookUrl: `https://${host}/hook` })).status, 400, host)
        }
      })
    )

    it.effect("has the same rules for the operational webhook of a workspace", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const dns = yield* DnsServer
        yield* dns.answer("A", "ops.example.com", { address: "93.184.215.14" })
        const { key } = yield* inlet.workspace
        const set = (opsWebhookUrl: string) => inlet.call("PATCH", "/api/workspace", { key, body: { opsWebhookUrl } })
        assert.strictEqual((yield* set("https://ops.example.com/hook")).status, 200)
        for (const url of ["http://ops.example.com/hook", "https://127.0.0.1/hook", "https://missing.example.com/"]) {
          const { json, status } = yield* set(url)
          assert.strictEqual(status, 400, url)
          assert.match(json.error, /^opsWebhookUrl: /)
        }
      })
    )

    it.effect("has no operator routes without a token", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        for (const key of [undefined, "", "undefined", "operator"]) {
          const { json, status } = yield* inlet.call("GET", "/admin/domains", { key })
          assert.strictEqual(status, 404)
          assert.deepStrictEqual(Object.keys(json), ["error"])
        }
      })
    )
  })
})
