import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { Api } from "../../../src/http/api/Api.ts"
import { Authorization } from "../../../src/http/requests/Authorization.ts"
import { LimitedKeys } from "../../../src/http/requests/LimitedKeys.ts"
import { ReadKeys } from "../../../src/http/requests/ReadKeys.ts"
import type { Method } from "../../../src/testing/ApiCall.ts"
import { eventually } from "../../Eventually.ts"
import * as Mail from "../../Mail.ts"
import * as Mailbox from "../../Mailbox.ts"
import { TestInlet } from "../../TestInlet.ts"

/** The keys that a route accepts: any of the workspace, only the full one, or none. */
type Needs = "any key" | "its own key" | "no key"

/** Every API route. A new one must be added with the keys it accepts. */
const expected: Readonly<Record<string, Needs>> = {
  "GET /api/workspace": "any key",
  "GET /api/operational-events": "any key",
  "GET /api/domains": "any key",
  "GET /api/domains/:id": "any key",
  "GET /api/domains/:id/mx": "any key",
  "GET /api/events": "any key",
  "GET /api/events/:eventId": "any key",
  "GET /api/domains/:id/events": "any key",
  "GET /api/domains/:id/events/stream": "any key",
  "GET /api/domains/:id/events/:eventId": "any key",
  "GET /api/domains/:id/events/:eventId/raw": "any key",
  "GET /api/domains/:id/events/:eventId/content": "any key",
  "GET /api/domains/:id/events/:eventId/attachments/:index": "any key",

  "GET /api/domains/:id/dns": "any key",
  "GET /api/domains/:id/health": "any key",
  "GET /api/domains/:id/stats": "any key",
  "GET /api/domains/:id/refusals": "any key",
  "GET /api/trace": "any key",
  "GET /api/domains/:id/webhook/health": "any key",
  "GET /api/domains/:id/webhooks": "any key",
  "GET /api/domains/:id/webhooks/match": "any key",
  "GET /api/domains/:id/webhooks/:webhookId": "any key",
  "GET /api/domains/:id/webhooks/:webhookId/health": "any key",
  "GET /api/domains/:id/events/:eventId/html": "any key",

  "PATCH /api/workspace": "its own key",
  "POST /api/workspaces/rotate-key": "its own key",
  "POST /api/workspaces/rotate-secret": "its own key",
  "POST /api/workspaces/keys": "its own key",
  "GET /api/workspaces/keys": "its own key",
  "DELETE /api/workspaces/keys/:keyId": "its own key",
  "POST /api/instant-inbox": "its own key",
  "POST /api/domains": "its own key",
  "DELETE /api/domains/:id": "its own key",
  "POST /api/domains/:id/verify": "its own key",
  "PATCH /api/domains/:id": "its own key",
  "PATCH /api/domains/:id/delivery": "its own key",
  "POST /api/domains/:id/events/:eventId/replay": "its own key",
  "POST /api/domains/:id/events/:eventId/deliver-now": "its own key",
  "POST /api/domains/:id/replays": "its own key",
  "GET /api/domains/:id/replays": "its own key",
  "GET /api/domains/:id/replays/:replayId": "its own key",
  "DELETE /api/domains/:id/replays/:replayId": "its own key",
  "POST /api/domains/:id/simulate": "its own key",
  "POST /api/domains/:id/ingest": "its own key",
  "POST /api/domains/:id/deliveries/lease": "its own key",
  "POST /api/domains/:id/deliveries/settle": "its own key",
  "POST /api/domains/:id/webhook/test": "its own key",
  "GET /api/domains/:id/sender-rules": "its own key",
  "POST /api/domains/:id/sender-rules": "its own key",
  "DELETE /api/domains/:id/sender-rules/:ruleId": "its own key",
  "POST /api/domains/:id/events/:eventId/release": "its own key",
  "POST /api/domains/:id/webhooks": "its own key",
  "PATCH /api/domains/:id/webhooks/:webhookId": "its own key",
  "DELETE /api/domains/:id/webhooks/:webhookId": "its own key",
  "POST /api/domains/:id/webhooks/:webhookId/rotate-secret": "its own key",
  "POST /api/domains/:id/webhooks/:webhookId/test": "its own key",
  "GET /api/domains/:id/events/:eventId/signed": "its own key",
  "GET /api/console/sessions": "its own key",
  "DELETE /api/console/sessions/:sessionId": "its own key",
  "POST /api/console/links": "its own key",
  // Webhook requests and their answers may contain secrets.
  "GET /api/domains/:id/delivery-attempts": "its own key",
  // Orders and the wallet are not mail.
  "GET /api/domains/search": "its own key",
  "POST /api/domains/purchase": "its own key",
  "GET /api/domains/orders": "its own key",
  "GET /api/domains/orders/:orderId": "its own key",
  "GET /api/domains/wallet": "its own key",

  "POST /api/workspaces": "no key",
  "POST /api/webhooks/stripe": "no key",
  "POST /api/demo/inbox": "no key",
  "GET /api/demo/events": "no key",
  "GET /api/demo/events/stream": "no key",
  "POST /api/demo/simulate": "no key",
  "GET /api/demo/events/:eventId/html": "no key",
  "GET /api/demo/events/:eventId/content": "no key",
  "GET /api/demo/events/:eventId/raw": "no key",
  "GET /api/demo/events/:eventId/attachments/:index": "no key",
  "GET /api/console/state": "no key",
  "POST /api/console/session": "no key",
  "DELETE /api/console/session": "no key",
  "GET /admin/status": "no key",
  "GET /admin/refusals": "no key",
  "GET /admin/trace": "no key",
  "GET /admin/operational-events": "no key",
  "GET /admin/workspaces": "no key",
  "DELETE /admin/workspaces/:workspaceId": "no key",
  "GET /admin/domains": "no key",
  "POST /admin/domains/:domain/disable": "no key",
  "POST /admin/domains/:domain/enable": "no key",
  "DELETE /admin/domains/:domain": "no key",
  "GET /health": "no key",
  "GET /ready": "no key"
}

interface Route {
  readonly method: Method
  readonly path: string
  readonly needs: Needs
  /** How it treats keys with a limit. */
  readonly limited: "refused" | "filtered" | "open"
}

/** The routes as declared in the API. */
const routes = Effect.sync(() => {
  const all: Array<Route> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, middleware }) => {
      const needsKey = [...middleware].some(({ key }) => key === Authorization.key)
      const needs = !needsKey ? "no key" : Context.get(endpoint.annotations, ReadKeys) ? "any key" : "its own key"
      all.push({
        // They include those of the API.
        method: endpoint.method as Method,
        path: endpoint.path,
        needs,
        limited: Context.get(endpoint.annotations, LimitedKeys)
      })
    }
  })
  return all
})

describe("Every API route", () => {
  it.effect("declares whether it accepts read keys, and refuses them by default", () =>
    Effect.gen(function* () {
      const declared = (yield* routes).map(({ method, needs, path }) => [`${method} ${path}`, needs] as const)
      assert.deepStrictEqual(Object.fromEntries(declared), expected)
    })
  )

  it.effect("that accepts read keys only reads", () =>
    Effect.gen(function* () {
      for (const { method, needs, path } of yield* routes) {
        if (needs === "any key") assert.strictEqual(method, "GET", path)
      }
    })
  )
})

layer(TestInlet.layer({ MAX_DOMAINS_PER_WORKSPACE: "5" }), { excludeTestServices: true })("A read key", (it) => {
  const bodies: Readonly<Record<string, unknown>> = {
    "POST /api/workspaces/keys": { scope: "read" },
    "POST /api/domains": { domain: "reader.example.com" },
    "PATCH /api/domains/:id": { spam: "hold" },
    "PATCH /api/domains/:id/delivery": { webhookUrl: null },
    "POST /api/domains/:id/webhooks": { pattern: "reader" },
    "PATCH /api/domains/:id/webhooks/:webhookId": { action: "reject" },
    "POST /api/domains/:id/sender-rules": { list: "block", value: "sender.example" },
    "POST /api/domains/:id/replays": { status: "dead" },
    "POST /api/domains/:id/simulate": { sample: "code" },
    "POST /api/domains/:id/deliveries/settle": {
      outcomes: [{ event_id: "01890000-0000-7000-8000-000000000000", attempt: 1, statusCode: 200, durationMs: 1 }]
    },
    "POST /api/domains/purchase": { domain: "reader-buys.com", years: 1 }
  }

  /** A workspace with a secret in its webhook URL, a delivered mail with an attachment, and a read key. */
  const workspace = Effect.gen(function* () {
    const inlet = yield* TestInlet
    const inbox = yield* inlet.inbox("http://127.0.0.1:9/sentinel?token=sentinel")
    yield* Mail.send(inlet.smtpPort, {
      to: inbox.address,
      text: "the text",
      html: "<p>the text</p>",
      attachments: [{ filename: "note.txt", content: "remember the milk" }]
    })
    const [event] = yield* Mailbox.events(inbox)
    // The first attempt fails and shows in the webhook; later ones change nothing in it.
    yield* eventually(
      inlet.call("GET", `/api/domains/${inbox.domainId}/webhooks`, { key: inbox.key }),
      ({ json }) => json.webhooks[0].failing_since !== null
    )
    const { json } = yield* inlet.call("POST", "/api/workspaces/keys", { key: inbox.key, body: { scope: "read" } })
    const ids: Readonly<Record<string, string>> = {
      id: inbox.domainId,
      eventId: event.event_id,
      index: "0",
      keyId: json.id,
      sessionId: json.id,
      replayId: json.id,
      orderId: inbox.domainId,
      webhookId: inbox.domainId,
      ruleId: json.id
    }
    const query = (path: string) => (path.endsWith("/match") ? `?recipient=${inbox.address}` : "")
    const fill = (path: string) => path.replace(/:(\w+)/g, (_, name) => ids[name] ?? "") + query(path)
    return { ...inbox, reader: json.api_key as string, fill }
  })

  it.effect("reads on every route that accepts it, without secrets", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { fill, key, reader, secret } = yield* workspace
      for (const { method, needs, path } of yield* routes) {
        if (needs !== "any key") continue
        // A stream does not end, so HEAD is used.
        const verb = path.endsWith("/stream") ? "HEAD" : method
        const { status, text } = yield* inlet.call(verb, fill(path), { key: reader })
        assert.strictEqual(status, 200, `${verb} ${path}: ${text}`)
        for (const told of ["sentinel", key, reader, secret]) assert.notInclude(text, told, path)
      }
      const { json } = yield* inlet.call("GET", "/api/domains", { key: reader })
      assert.strictEqual(json.domains[0].webhookUrl, "http://127.0.0.1:9/…")
      const raw = yield* inlet.call("GET", fill("/api/domains/:id/events/:eventId/raw"), { key: reader })
      assert.include(raw.text, "the text")
    })
  )

  it.effect("is answered 403 on every other workspace route with the required key, and changes nothing", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { domainId, fill, key, reader } = yield* workspace
      const state = Effect.gen(function* () {
        const ask = (path: string) => Effect.map(inlet.call("GET", path, { key }), ({ json }) => json)
        return [
          yield* ask("/api/domains"),
          yield* ask(fill("/api/domains/:id/webhooks")),
          (yield* ask("/api/workspaces/keys")).keys.map(({ id }: { readonly id: string }) => id),
          yield* ask("/api/domains/orders"),
          yield* ask("/api/domains/wallet"),
          yield* sql`SELECT id FROM inbound_emails WHERE domain_id = ${domainId}`,
          yield* sql`SELECT api_key_hash, signing_secret FROM workspaces ORDER BY id`
        ]
      })
      const before = yield* state
      let refused = 0
      for (const { method, needs, path } of yield* routes) {
        if (needs !== "its own key") continue
        const body = bodies[`${method} ${path}`]
        const { json, status } = yield* inlet.call(method, fill(path), {
          key: reader,
          ...(body === undefined ? {} : { body }),
          headers: { "idempotency-key": `reader ${method}`.replaceAll(" ", "-") }
        })
        assert.strictEqual(status, 403, `${method} ${path}`)
        assert.deepStrictEqual(Object.keys(json), ["error"])
        assert.strictEqual(
          json.error,
          `A read key (ak_read_…) only reads mail: ${method} ${path.replace(/:(\w+)/g, "{$1}")} requires the workspace's own key, \`Authorization: Bearer ak_live_…\``
        )
        refused++
      }
      assert.isAbove(refused, 15)
      assert.deepStrictEqual(yield* state, before)
    })
  )

  it.effect("is answered 403 before its body, parameters and id are validated", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { fill, reader } = yield* workspace
      const { json: other } = yield* inlet.call("POST", "/api/workspaces", { body: { name: "other" } })
      const asked = [
        ["POST", fill("/api/domains/:id/simulate"), "not JSON"],
        ["POST", "/api/domains/purchase?dry_run=1", {}],
        ["DELETE", `/api/domains/${other.workspace_id}`, undefined],
        ["DELETE", "/api/domains/no-id", undefined]
      ] as const
      for (const [method, path, body] of asked) {
        const { status } = yield* inlet.call(method, path, { key: reader, ...(body === undefined ? {} : { body }) })
        assert.strictEqual(status, 403, path)
      }
    })
  )

  it.effect("receives no signed webhook requests", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { fill, key, reader } = yield* workspace
      const signed = fill("/api/domains/:id/events/stream?signed=true")
      const { headers, status } = yield* inlet.call("HEAD", signed, { key: reader })
      assert.strictEqual(status, 403)
      assert.notProperty(headers, "www-authenticate")
      const { json } = yield* inlet.call("GET", signed, { key: reader })
      assert.match(json.error, /: signed=true requires the workspace's own key, /)
      assert.strictEqual((yield* inlet.call("HEAD", signed, { key })).status, 200)
    })
  )

  it.effect("sees no other workspace, whose ids answer 404 like unknown ones", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const mine = yield* workspace
      const other = yield* workspace
      for (const { needs, path } of yield* routes) {
        if (needs !== "any key" || !path.includes(":id")) continue
        const { status } = yield* inlet.call("GET", other.fill(path), { key: mine.reader })
        assert.strictEqual(status, 404, path)
      }
    })
  )

  it.effect("is in the OpenAPI document and in llms.txt exactly where it is accepted, with and without a limit", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { json } = yield* inlet.call("GET", "/openapi.json")
      const [, text = ""] = (yield* inlet.call("GET", "/llms.txt")).text.split("## Every route of a workspace")
      for (const { limited, method, needs, path } of yield* routes) {
        if (needs === "no key") continue
        const template = path.replace(/:(\w+)/g, "{$1}")
        const operation = json.paths[template]?.[method.toLowerCase()]
        if (operation === undefined) continue
        // An ingest key, too, is refused everywhere else.
        assert.property(operation.responses, "403", `${method} ${path}`)
        const isLimited = limited !== "refused"
        const schemes = operation.security.flatMap((one: object) => Object.keys(one))
        assert.deepStrictEqual(
          [schemes.includes("readKey"), schemes.includes("limitedReadKey")],
          [needs === "any key", isLimited],
          `${method} ${path}`
        )
        const starts = [" ", ":"].map((next) => `- ${method} ${template}${next}`)
        const line = text.split("\n").find((line) => starts.some((start) => line.startsWith(start))) ?? ""
        const mark =
          needs === "any key"
            ? `[read key${isLimited ? "" : " without a limit"}]`
            : isLimited
              ? "[read key with a limit]"
              : undefined
        const [, shown] = /(\[read key.*\])$/.exec(line) ?? []
        assert.strictEqual(shown, mark, `${method} ${path}`)
      }
    })
  )
})
