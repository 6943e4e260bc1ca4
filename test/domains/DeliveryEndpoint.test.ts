import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { DnsServer } from "../DnsServer.ts"
import { TestInlet } from "../TestInlet.ts"

/** Sets the webhook, and gives the whole answer. */
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

describe("The delivery endpoint", () => {
  layer(TestInlet.layer({ ADMIN_TOKEN: "operator" }), { excludeTestServices: true, timeout: "60 seconds" })(
    "in development",
    (it) => {
      it.effect("sets the webhook and says so", () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const inbox = yield* inlet.inbox()
          const { json, status } = yield* patch(inbox, { webhookUrl: "http://LOCALHOST:4000/hook?a=b" })
          assert.strictEqual(status, 200)
          assert.deepStrictEqual(json, {
            id: inbox.domainId,
            domain: inbox.domain,
            status: "verified",
            webhookUrl: "http://localhost:4000/hook?a=b"
          })
          assert.strictEqual(yield* webhookOf(inbox), "http://localhost:4000/hook?a=b")
        })
      )

      it.effect("clears it with null", () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const inbox = yield* inlet.inbox("https://example.com/hook")
          const { json, status } = yield* patch(inbox, { webhookUrl: null })
          assert.strictEqual(status, 200)
          assert.isNull(json.webhookUrl)
          assert.isNull(yield* webhookOf(inbox))
        })
      )

      it.effect("answers 400 to what is no webhook URL, and keeps the one that is set", () =>
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
            { url: "https://example.com/" },
            {}
          ]
          for (const body of bodies) {
            const { json, status } = yield* patch(inbox, body)
            assert.strictEqual(status, 400, JSON.stringify(body).slice(0, 80))
            assert.match(json.error, /^webhookUrl: Expected /)
            assert.deepStrictEqual(Object.keys(json), ["error"])
          }
          assert.strictEqual(yield* webhookOf(inbox), "https://example.com/kept")
        })
      )

      it.effect("answers 409 while the domain is not verified", () =>
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

      it.effect("answers 409 while the domain is disabled", () =>
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
    }
  )

  layer(production, { excludeTestServices: true, timeout: "60 seconds" })("in production", (it) => {
    it.effect("takes https and answers 400 to http", () =>
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
      })
    )

    it.effect("has no operator's routes without a token", () =>
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
