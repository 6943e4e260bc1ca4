import { request } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { version } from "../../src/Version.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

/** Every route of this API, with the errors it answers beside those of every route. */
const routes: Readonly<Record<string, ReadonlyArray<number>>> = {
  "post /api/workspaces": [201, 400],
  "post /api/workspaces/rotate-key": [200, 401],
  "post /api/workspaces/rotate-secret": [200, 401],
  "post /api/instant-inbox": [200, 201, 401],
  "post /api/domains": [201, 400, 401, 409],
  "get /api/domains": [200, 401],
  "get /api/domains/{id}": [200, 401, 404],
  "delete /api/domains/{id}": [204, 401, 404],
  "post /api/domains/{id}/verify": [200, 401, 404, 409],
  "get /api/domains/{id}/mx": [200, 401, 404],
  "patch /api/domains/{id}/delivery": [200, 400, 401, 404, 409],
  "get /api/domains/{id}/events": [200, 400, 401, 404, 429],
  "get /api/domains/{id}/events/stream": [200, 400, 401, 404, 429],
  "get /api/domains/{id}/events/{eventId}": [200, 401, 404],
  "get /api/domains/{id}/events/{eventId}/raw": [200, 401, 404],
  "get /api/domains/{id}/events/{eventId}/attachments/{index}": [200, 401, 404],
  "post /api/domains/{id}/events/{eventId}/replay": [202, 400, 401, 404, 409],
  "get /api/domains/{id}/delivery-attempts": [200, 400, 401, 404],
  "get /admin/domains": [200, 404],
  "post /admin/domains/{domain}/disable": [200, 400, 404],
  "post /admin/domains/{domain}/enable": [200, 400, 404],
  "get /health": [200],
  "get /ready": [200, 503]
}

interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>
    readonly securitySchemes: Readonly<Record<string, { readonly type: string; readonly scheme: string }>>
  }
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly security: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Record<string, unknown> }>
  >
}

const operations = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ route: `${method} ${path}`, operation }))
  )

layer(TestInlet.layer({ SERVICE_PUBLIC_URL: "https://inlet.example.com" }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("The system's routes", (it) => {
  it.effect("say that the process serves, and that the database answers", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const path of ["/health", "/ready"]) {
        const { headers, json, status } = yield* inlet.call("GET", path)
        assert.strictEqual(status, 200)
        assert.match(headers["content-type"] ?? "", /^application\/json/)
        assert.deepStrictEqual(json, { status: "ok" })
      }
    })
  )

  it.effect("give metrics that Prometheus reads, without a name of any tenant", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* inlet.call("POST", "/api/domains", { key: inbox.key, body: { domain: "measured.example.com" } })
      yield* Mail.send(inlet.smtpPort, { to: `measured@${inbox.domain}`, from: "ada@measured.example.net" })
      const [event] = yield* Mailbox.events(inbox)
      yield* inlet.call("GET", `/measured/${inbox.domain}`)

      const { headers, status, text } = yield* inlet.call("GET", "/metrics")
      assert.strictEqual(status, 200)
      assert.match(headers["content-type"] ?? "", /^text\/plain/)
      assert.match(text, /^# TYPE inlet_http_requests_total counter$/m)
      assert.match(text, /^inlet_http_requests_total\{method="POST",status="201"\} \d+$/m)
      for (const line of text.split("\n").filter((line) => line !== "")) {
        assert.match(line, /^(# (HELP|TYPE) |[a-zA-Z_:][\w:]*(\{.*\})? [\d.eE+-]+(Inf|NaN)?$)/)
      }
      const { domain, domainId, key, secret } = inbox
      for (const tenants of ["measured", domain, domainId, key, secret, event.event_id]) {
        assert.notInclude(text, tenants)
      }
    })
  )

  it.effect("count what clients make up under one name", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const method of ["PROPFIND", "M-SEARCH", "TRACE", "PUT", "OPTIONS", "UNLOCK"]) {
        const status = yield* Effect.callback<number | undefined>((resume) => {
          request(`${inlet.url}/api/domains`, { agent: false, method }, (response) => {
            response.resume()
            resume(Effect.succeed(response.statusCode))
          }).end()
        })
        assert.strictEqual(status, 404, method)
      }
      const { text } = yield* inlet.call("GET", "/metrics")
      const methods = [...text.matchAll(/^inlet_http_requests_total\{method="([^"]+)"/gm)].map(([, method]) => method)
      assert.include(methods, "other")
      for (const method of methods) assert.include(["GET", "HEAD", "POST", "PATCH", "DELETE", "other"], method)
    })
  )

  it.effect("describe every route of the API with its statuses", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { json, status } = yield* inlet.call("GET", "/openapi.json")
      const document: Document = json
      assert.strictEqual(status, 200)
      assert.match(document.openapi, /^3\.1\./)
      assert.strictEqual(document.info.title, "Inlet")
      assert.strictEqual(document.info.version, version)

      const listed = new Map(operations(document).map(({ operation, route }) => [route, operation]))
      for (const [route, statuses] of Object.entries(routes)) {
        const operation = listed.get(route)
        if (operation === undefined) return assert.fail(`${route} is missing`)
        assert.includeMembers(Object.keys(operation.responses).map(Number), [...statuses], route)
      }
    })
  )

  it.effect("describe every error as one text in one field", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const document: Document = (yield* inlet.call("GET", "/openapi.json")).json
      assert.deepStrictEqual(document.components.schemas.Error, {
        type: "object",
        properties: { error: { type: "string" } },
        required: ["error"],
        additionalProperties: false
      })
      for (const { operation, route } of operations(document)) {
        for (const [status, { content }] of Object.entries(operation.responses)) {
          if (Number(status) < 400) continue
          assert.deepStrictEqual(
            content,
            { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
            `${route} ${status}`
          )
        }
      }
    })
  )

  it.effect("describe which routes need a key, and have a name and a line for each", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const document: Document = (yield* inlet.call("GET", "/openapi.json")).json
      const ids = new Set<string>()
      for (const { operation, route } of operations(document)) {
        ids.add(operation.operationId)
        assert.isNotEmpty(operation.summary, route)
        const needsKey = operation.responses["401"] !== undefined
        if (route.includes(" /api/") && needsKey && !route.includes("/api/demo/")) {
          assert.deepStrictEqual(operation.security, [{ bearer: [] }], route)
        }
      }
      assert.strictEqual(ids.size, operations(document).length)
      const { scheme, type } = document.components.securitySchemes.bearer ?? { scheme: "", type: "" }
      assert.strictEqual(type, "http")
      assert.strictEqual(scheme.toLowerCase(), "bearer")
    })
  )

  it.effect("describe the API with references that all lead somewhere", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { json, text } = yield* inlet.call("GET", "/openapi.json")
      const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = ""]) => reference)
      assert.isNotEmpty(references)
      for (const reference of new Set(references)) {
        const found = reference
          .replace(/^#\//, "")
          .split("/")
          .reduce((node, name) => node?.[name], json)
        assert.isDefined(found, reference)
      }
      for (const { operation, route } of operations(json)) {
        const described = (operation.parameters ?? []).filter((parameter) => parameter.in === "path")
        assert.sameMembers(
          described.map(({ name }) => name),
          [...route.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name),
          route
        )
      }
    })
  )

  it.effect("show the reference as a page that loads nothing from another host", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { headers, status, text } = yield* inlet.call("GET", "/docs")
      assert.strictEqual(status, 200)
      assert.match(headers["content-type"] ?? "", /^text\/html/)
      const markup = text.replace(/(<script[^>]*>)[\s\S]*?<\/script>/g, "$1")
      assert.notMatch(markup, /\b(src|href|action)=/)
      assert.notMatch(markup, /<(link|img|iframe|style)\b/)
      // What the script itself might ask for, the browser refuses.
      const policy = headers["content-security-policy"] ?? ""
      assert.match(policy, /^default-src 'self' /)
      assert.notMatch(policy, /https?:|\*/)
      assert.include(text, "/api/domains/{id}/delivery-attempts")
    })
  )

  it.effect("tell an agent in plain text how to begin, under the public URL", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { headers, status, text } = yield* inlet.call("GET", "/llms.txt")
      assert.strictEqual(status, 200)
      assert.match(headers["content-type"] ?? "", /^text\/plain/)
      assert.match(text, /^# Inlet\n/)
      assert.include(text, "https://inlet.example.com")
      for (const said of [
        "/api/workspaces",
        "/api/instant-inbox",
        "/delivery",
        "/events",
        "X-Service-Signature",
        "https://inlet.example.com/openapi.json",
        "https://inlet.example.com/docs"
      ]) {
        assert.include(text, said)
      }
    })
  )
})
