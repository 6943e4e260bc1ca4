import { request } from "node:http"
import { gunzipSync } from "node:zlib"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { HttpClient } from "effect/http"
import { InboundEvent } from "../../src/model/InboundEvent.ts"
import { version } from "../../src/Version.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { quickest } from "../Quickest.ts"
import { TestInlet } from "../TestInlet.ts"

/** Every route of the API with its errors beyond the common ones. */
const routes: Readonly<Record<string, ReadonlyArray<number>>> = {
  "post /api/workspaces": [201, 400],
  "get /api/workspace": [200, 401],
  "patch /api/workspace": [200, 400, 401, 403, 429],
  "get /api/operational-events": [200, 400, 401],
  "get /admin/operational-events": [200, 400, 404],
  "post /api/workspaces/rotate-key": [200, 401],
  "post /api/workspaces/rotate-secret": [200, 401],
  "post /api/workspaces/keys": [201, 400, 401, 403, 404, 409],
  "get /api/workspaces/keys": [200, 401, 403],
  "delete /api/workspaces/keys/{keyId}": [204, 401, 403, 404],
  "post /api/instant-inbox": [200, 201, 401],
  "post /api/domains": [201, 400, 401, 409],
  "get /api/domains": [200, 401],
  "get /api/domains/{id}": [200, 401, 404],
  "delete /api/domains/{id}": [204, 401, 404],
  "post /api/domains/{id}/verify": [200, 401, 404, 409],
  "get /api/domains/{id}/mx": [200, 401, 404],
  "patch /api/domains/{id}/delivery": [200, 400, 401, 404, 409],
  "post /api/domains/{id}/simulate": [201, 202, 400, 401, 404, 409, 413, 429],
  "get /api/domains/{id}/events": [200, 400, 401, 404, 429],
  "get /api/domains/{id}/events/stream": [200, 400, 401, 404, 429],
  "get /api/domains/{id}/events/{eventId}": [200, 401, 404],
  "get /api/domains/{id}/events/{eventId}/raw": [200, 401, 404],
  "get /api/domains/{id}/events/{eventId}/content": [200, 400, 401, 404],
  "get /api/domains/{id}/events/{eventId}/attachments/{index}": [200, 401, 404],
  "post /api/domains/{id}/events/{eventId}/replay": [202, 400, 401, 404, 409],
  "post /api/domains/{id}/events/{eventId}/deliver-now": [202, 401, 404, 409, 429],
  "post /api/domains/{id}/replays": [200, 202, 400, 401, 404, 409, 429],
  "get /api/domains/{id}/replays": [200, 400, 401, 404],
  "get /api/domains/{id}/replays/{replayId}": [200, 401, 404],
  "delete /api/domains/{id}/replays/{replayId}": [200, 401, 404],
  "get /api/domains/{id}/delivery-attempts": [200, 400, 401, 404],
  "get /api/domains/{id}/refusals": [200, 400, 401, 404],
  "get /admin/refusals": [200, 400, 404],
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
    readonly schemas: Readonly<Record<string, Described>>
    readonly responses: Readonly<
      Record<string, { readonly headers: object; readonly content?: Record<string, { schema: unknown }> }>
    >
    readonly securitySchemes: Readonly<Record<string, { readonly type: string; readonly scheme: string }>>
  }
}

/** A JSON Schema of a request. */
interface Described {
  readonly type?: string
  readonly $ref?: string
  readonly description?: string
  readonly anyOf?: ReadonlyArray<Described>
  readonly oneOf?: ReadonlyArray<Described>
  readonly items?: Described
  readonly properties?: Readonly<Record<string, Described>>
  readonly required?: ReadonlyArray<string>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string; readonly description?: string }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Described }>> }
  readonly security: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly responses: Readonly<
    Record<
      string,
      { readonly $ref?: string; readonly description: string; readonly content?: Record<string, { schema: unknown }> }
    >
  >
}

const operations = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ route: `${method} ${path}`, operation }))
  )

layer(TestInlet.layer({ SERVICE_PUBLIC_URL: "https://inlet.example.com" }), {
  excludeTestServices: true
})("The system routes", (it) => {
  it.effect("report liveness and the state of the database", () =>
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

  it.effect("export metrics to Prometheus without tenant names", () =>
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

  it.effect("export the counters of the alerts before anything is counted", () =>
    Effect.gen(function* () {
      const { text } = yield* (yield* TestInlet).call("GET", "/metrics")
      for (const series of [
        'inlet_smtp_replies_total{command="DATA",code="451",reason="storage"}',
        'inlet_smtp_replies_total{command="RCPT",code="451",reason="storage"}',
        'inlet_smtp_replies_total{command="RCPT",code="452",reason="quota"}',
        'inlet_messages_read_total{parse="headers"}',
        "inlet_parser_threads_lost_total",
        "inlet_raw_damaged_total",
        "inlet_refusals_dropped_total",
        "inlet_webhooks_paused_total"
      ]) {
        assert.include(text, `\n${series} `)
      }
    })
  )

  it.effect("count unknown paths and methods under one label", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const method of ["PROPFIND", "M-SEARCH", "TRACE", "PUT", "OPTIONS", "UNLOCK"]) {
        const status = yield* Effect.callback<number | undefined>((resume) => {
          request(`${inlet.url}/api/domains`, { agent: false, method }, (response) => {
            response.resume()
            resume(Effect.succeed(response.statusCode))
          }).end()
        })
        assert.strictEqual(status, 405, method)
      }
      const { text } = yield* inlet.call("GET", "/metrics")
      const methods = [...text.matchAll(/^inlet_http_requests_total\{method="([^"]+)"/gm)].map(([, method]) => method)
      assert.include(methods, "other")
      for (const method of methods) assert.include(["GET", "HEAD", "POST", "PATCH", "DELETE", "other"], method)
    })
  )

  it.effect("describe every route with its status codes", () =>
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
      // Also of routes that take no body.
      for (const [route, { responses }] of listed) {
        assert.strictEqual("413" in responses, !route.startsWith("get "), route)
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
        required: ["error"]
      })
      for (const { operation, route } of operations(document)) {
        for (const [status, { $ref = "" }] of Object.entries(operation.responses)) {
          if (Number(status) < 400) continue
          const answer = document.components.responses[$ref.replace("#/components/responses/", "")]
          // Beside it, the reply of SMTP to a mail that a relay hands over.
          const schema = $ref.endsWith("Mail") && route.endsWith("/ingest") ? "MailRefusal" : "Error"
          assert.deepStrictEqual(
            answer?.content?.["application/json"]?.schema,
            { $ref: `#/components/schemas/${schema}` },
            `${route} ${status}`
          )
          const header = { 401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After" }[status]
          assert.hasAllKeys(answer?.headers ?? {}, ["X-Request-Id", ...(header === undefined ? [] : [header])])
        }
      }
    })
  )

  it.effect("say what each parameter and each field of a request means", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const document: Document = (yield* inlet.call("GET", "/openapi.json")).json
      const named = (schema: Described): Described =>
        document.components.schemas[`${schema.$ref}`.replace("#/components/schemas/", "")] ?? schema
      const branches = (schema: Described) => [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
      const isDescribed = (field: Described) => branches(field).some((one) => one.description ?? named(one).description)
      /** The fields without a description, in a schema and those below it. */
      const silent = (schema: Described, path: string): ReadonlyArray<string> =>
        branches(named(schema)).flatMap(({ items, properties = {} }) => [
          ...(items === undefined ? [] : silent(items, `${path}[]`)),
          ...Object.entries(properties).flatMap(([name, field]) => [
            ...(isDescribed(field) ? [] : [`${path}.${name}`]),
            ...silent(field, `${path}.${name}`)
          ])
        ])
      for (const { operation, route } of operations(document)) {
        for (const { description, name } of operation.parameters ?? [])
          assert.isNotEmpty(description ?? "", `${route} ${name}`)
        const bodies = Object.values(operation.requestBody?.content ?? {})
        assert.deepStrictEqual(
          bodies.flatMap(({ schema }) => silent(schema, route)),
          []
        )
      }
    })
  )

  it.effect("describe the authentication, operation id and summary of each route", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const document: Document = (yield* inlet.call("GET", "/openapi.json")).json
      const ids = new Set<string>()
      for (const { operation, route } of operations(document)) {
        ids.add(operation.operationId)
        assert.isNotEmpty(operation.summary, route)
        const needsKey = operation.responses["401"] !== undefined
        if (/ \/api\/(?!demo\/|console\/session$)/.test(route) && needsKey) {
          const [first, ...others] = operation.security
          assert.deepStrictEqual(first, { bearer: [] }, route)
          // Other kinds of keys, if the route accepts them.
          assert.includeDeepMembers([{ readKey: [] }, { limitedReadKey: [] }, { ingestKey: [] }], others, route)
        }
      }
      assert.strictEqual(ids.size, operations(document).length)
      const { scheme, type } = document.components.securitySchemes.bearer ?? { scheme: "", type: "" }
      assert.strictEqual(type, "http")
      assert.strictEqual(scheme.toLowerCase(), "bearer")
    })
  )

  it.effect("describe themselves with wire types for generated clients", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { json, text } = yield* inlet.call("GET", "/openapi.json")
      assert.notMatch(text, /x-|Encoded|effect|additionalProperties":false|"Success"|"[A-Z][a-z]+" ?: ?"Error"/)
      assert.deepStrictEqual(json.servers, [{ url: "https://inlet.example.com", description: "This instance" }])
      assert.strictEqual(json.components.securitySchemes.bearer.scheme, "bearer")
      const list = json.paths["/api/domains/{id}/events"].get
      const schemaOf = (name: string) =>
        list.parameters.find((parameter: { readonly name: string }) => parameter.name === name).schema
      assert.deepStrictEqual(schemaOf("id"), { type: "string", format: "uuid" })
      assert.deepStrictEqual(schemaOf("limit"), { type: "integer", minimum: 1, maximum: 100 })
      assert.deepStrictEqual(schemaOf("wait"), { type: "integer", minimum: 0, maximum: 60 })
      assert.deepStrictEqual(schemaOf("since"), { type: "string", format: "date-time" })
      assert.deepStrictEqual(json.components.schemas.Domain.properties.verified_at, {
        type: ["string", "null"],
        format: "date-time"
      })
      assert.includeMembers(Object.keys(list.responses), ["200", "400", "401", "404", "429", "500", "503"])
      assert.property(json.paths["/api/domains"].post.responses, "413")
      for (const { operation, route } of operations(json)) {
        for (const [status, { description }] of Object.entries(operation.responses)) {
          if (Number(status) < 400) assert.isAbove(description.length, 8, `${route} ${status}`)
        }
      }
    })
  )

  it.effect("describe the webhook with its headers and valid examples", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { json } = yield* inlet.call("GET", "/openapi.json")
      const { parameters, requestBody } = json.webhooks["inbound.email.received"].post
      assert.deepStrictEqual(
        parameters.map(({ name }: { readonly name: string }) => name),
        [
          "X-Service-Event-Id",
          "X-Service-Timestamp",
          "X-Service-Signature",
          "X-Service-Signature-Previous",
          "webhook-id",
          "webhook-timestamp",
          "webhook-signature"
        ]
      )
      const { example } = requestBody.content["application/json"]
      const event = yield* Schema.decodeUnknownEffect(InboundEvent)(example, { onExcessProperty: "error" })
      assert.strictEqual(event.event_id, example.event_id)
    })
  )

  it.effect("answer 304 to a client with the current document, and compress it if accepted", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const path of ["/openapi.json", "/docs"]) {
        const plain = yield* inlet.call("GET", path, { headers: { "accept-encoding": "identity" } })
        assert.strictEqual(plain.status, 200)
        assert.notProperty(plain.headers, "content-encoding")
        const etag = plain.headers.etag ?? ""
        const again = yield* inlet.call("GET", path, { headers: { "if-none-match": etag } })
        assert.strictEqual(again.status, 304)
        assert.strictEqual(again.text, "")
        const client = yield* HttpClient.HttpClient
        const small = yield* client.get(`${inlet.url}${path}`, { headers: { "accept-encoding": "gzip, br" } })
        assert.strictEqual(small.headers["content-encoding"], "gzip")
        const bytes = new Uint8Array(yield* small.arrayBuffer)
        assert.isBelow(bytes.length, plain.text.length / 4)
        assert.strictEqual(gunzipSync(bytes).toString(), plain.text)
      }
    }).pipe(Effect.provide(NodeHttpClient.layerUndici))
  )

  it.effect("answer a request with thousands of blanks in a header in time, and refuse it in time", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const blanks = " ".repeat(14_000)
      const asked = Effect.all([
        inlet.call("GET", "/docs", { headers: { "if-none-match": `a${blanks}b` } }),
        inlet.call("POST", "/mcp", { headers: { authorization: `Bearer${blanks}x y` } })
      ])
      const answered = Effect.map(asked, ([page, refusal]) =>
        assert.deepStrictEqual([page.status, refusal.status], [200, 401])
      )
      assert.isBelow(yield* quickest(answered), 500)
    })
  )

  it.effect("have no dangling reference in the OpenAPI document", () =>
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

  it.effect("show a reference page for each group, without scripts and without broken links", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const document: Document = (yield* inlet.call("GET", "/openapi.json")).json
      const overview = yield* inlet.call("GET", "/docs")
      const linked = (text: string) => [...text.matchAll(/href="(\/docs\/[\w/-]+)"/g)].map(([, target = ""]) => target)
      const pages = new Map([["/docs", overview.text]])
      const targets = linked(overview.text)
      for (const target of targets) {
        if (pages.has(target)) continue
        const { headers, status, text } = yield* inlet.call("GET", target)
        assert.strictEqual(status, 200, target)
        assert.match(headers["content-type"] ?? "", /^text\/html; charset=utf-8$/)
        assert.match(headers["content-security-policy"] ?? "", /^default-src 'none'; /)
        pages.set(target, text)
        targets.push(...linked(text))
      }
      assert.includeMembers([...pages.keys()], ["/docs/events", "/docs/webhook", "/docs/schemas"])
      for (const [path, text] of pages) {
        assert.isBelow(text.length, 100_000, path)
        assert.notMatch(text, /<(script|iframe|style|img)\b|\son\w+=|\sstyle=|undefined|\[object |NaN/)
        for (const [, target = ""] of text.matchAll(/\b(?:src|href|action)="([^"]*)"/g)) {
          const [file = "", anchor] = target.split("#")
          const page = pages.get(file === "" ? path : file)
          if (page === undefined) assert.strictEqual((yield* inlet.call("GET", file)).status, 200, target)
          else if (anchor !== undefined) assert.include(page, `id="${anchor}"`, target)
        }
      }
      const all = [...pages.values()].join("")
      for (const { operation } of operations(document)) {
        assert.include(all, `<article id="${operation.operationId}">`)
      }
      for (const name of Object.keys(document.components.schemas)) {
        if (name !== "Error") assert.include(pages.get(`/docs/schemas/${name}`), `<h1>${name}</h1>`)
      }
      assert.include(all, "https://inlet.example.com/api/domains/$ID/delivery-attempts")
    })
  )

  it.effect("find routes, parameters, fields and schemas by all words of a query", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const search = (query: string) =>
        Effect.map(inlet.call("GET", `/docs?q=${encodeURIComponent(query)}`), ({ status, text }) => {
          assert.strictEqual(status, 200, query)
          return [...text.slice(text.indexOf("<main")).matchAll(/<li><a href="([^"]+)"/g)].map(([, href = ""]) => href)
        })
      assert.strictEqual((yield* search("REPLAY event"))[0], "/docs/events#events.replay")
      assert.isNotEmpty(yield* search("webhook_paused_at"))
      assert.include(yield* search("fromDomain"), "/docs/events#events.list")
      assert.deepStrictEqual(yield* search("no such words anywhere"), [])
      const { text } = yield* inlet.call("GET", `/docs?q=${encodeURIComponent('"><script>x')}`)
      assert.include(text, "&quot;&gt;&lt;script&gt;x")
      assert.notInclude(text, "<script")
      assert.include((yield* inlet.call("GET", "/docs?q=%20&q=b")).text, "<h1>API reference</h1>")
      assert.strictEqual((yield* inlet.call("GET", `/docs?q=${"a ".repeat(4_000)}`)).status, 200)
    })
  )

  it.effect(
    "describe sign-up, waits, reads and purchases with every workspace route and the limits in plain text",
    () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { headers, status, text } = yield* inlet.call("GET", "/llms.txt")
        assert.strictEqual(status, 200)
        assert.strictEqual(headers["content-type"], "text/plain; charset=utf-8")
        assert.match(text, /^# Inlet\n/)
        for (const said of [
          "Base URL: https://inlet.example.com.",
          "after={cursor_now}&recipient={address}&has=code&view=brief&wait=60",
          "events[0].extracted.code.value",
          "fromDomain=github.com",
          "/content?max_chars=6000",
          ...["tag", "fromName", "extracted:", "reply:", "sender:", "threadId:", "hiddenText:"],
          "/simulate?wait=10",
          "Mail by SMTP goes to 127.0.0.1:",
          "Last-Event-ID",
          "X-Service-Signature",
          "Own domains of a workspace, the instant inbox not counted: 1",
          "Messages of a workspace per UTC day: 100. Further ones get 452 until midnight UTC",
          "Largest message: 1 MiB",
          "Days that messages, events and attempts are kept: 14",
          "Attempts of a delivery: 11 in about 3.2 days, 15s each",
          "429 and 503 come with Retry-After",
          "/attachments/{index}",
          "POST /api/domains/purchase"
        ]) {
          assert.include(text, said)
        }
        const document: Document = (yield* inlet.call("GET", "/openapi.json")).json
        const [, routes = ""] = text.split("## Every route of a workspace")
        for (const { operation, route } of operations(document)) {
          const [method = "", path = ""] = route.split(" ")
          if (!operation.security.some((one) => "bearer" in one)) continue
          const line = routes.split("\n").find((line) => line.startsWith(`- ${method.toUpperCase()} ${path}`))
          assert.isTrue(
            line?.replace(/ \[[a-z ]+ key( with(out)? a limit)?\]$/, "").endsWith(`: ${operation.summary}`),
            route
          )
        }
        assert.notInclude(text, "undefined")
      })
  )
})
