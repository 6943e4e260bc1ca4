import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestInlet } from "../../TestInlet.ts"

const uuid = "01890000-0000-7000-8000-000000000000"

const routes: ReadonlyArray<readonly ["GET" | "POST" | "PATCH" | "DELETE", string]> = [
  ["GET", "/api/workspace"],
  ["PATCH", "/api/workspace"],
  ["GET", "/api/operational-events"],
  ["POST", "/api/workspaces/rotate-key"],
  ["POST", "/api/workspaces/rotate-secret"],
  ["POST", "/api/workspaces/keys"],
  ["GET", "/api/workspaces/keys"],
  ["DELETE", `/api/workspaces/keys/${uuid}`],
  ["POST", "/api/instant-inbox"],
  ["POST", "/api/domains"],
  ["GET", "/api/domains"],
  ["GET", "/api/domains/orders"],
  ["GET", `/api/domains/${uuid}`],
  ["DELETE", `/api/domains/${uuid}`],
  ["POST", `/api/domains/${uuid}/verify`],
  ["GET", `/api/domains/${uuid}/mx`],
  ["PATCH", `/api/domains/${uuid}/delivery`],
  ["GET", "/api/events"],
  ["GET", `/api/events/${uuid}`],
  ["GET", `/api/domains/${uuid}/health`],
  ["GET", `/api/domains/${uuid}/events`],
  ["GET", `/api/domains/${uuid}/events/stream`],
  ["GET", `/api/domains/${uuid}/events/${uuid}`],
  ["GET", `/api/domains/${uuid}/events/${uuid}/raw`],
  ["GET", `/api/domains/${uuid}/events/${uuid}/content`],
  ["GET", `/api/domains/${uuid}/events/${uuid}/attachments/0`],
  ["POST", `/api/domains/${uuid}/events/${uuid}/replay`],
  ["POST", `/api/domains/${uuid}/events/${uuid}/deliver-now`],
  ["POST", `/api/domains/${uuid}/replays`],
  ["GET", `/api/domains/${uuid}/replays`],
  ["GET", `/api/domains/${uuid}/replays/${uuid}`],
  ["DELETE", `/api/domains/${uuid}/replays/${uuid}`],
  ["POST", `/api/domains/${uuid}/simulate`],
  ["GET", `/api/domains/${uuid}/delivery-attempts`],
  ["GET", `/api/domains/${uuid}/refusals`]
]

layer(TestInlet.layer(), { excludeTestServices: true })("Authorization", (it) => {
  it.effect("is required on every workspace route, with 401 and WWW-Authenticate", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const [method, path] of routes) {
        const { headers, json, status } = yield* inlet.call(method, path)
        assert.strictEqual(status, 401, `${method} ${path}`)
        assert.strictEqual(headers["www-authenticate"], "Bearer")
        assert.deepStrictEqual(Object.keys(json), ["error"])
        assert.match(json.error, /Authorization: Bearer ak_live_/)
      }
    })
  )

  it.effect("is not required to create a workspace or on system routes", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      assert.strictEqual((yield* inlet.call("POST", "/api/workspaces", { body: { name: "a" } })).status, 201)
      for (const path of ["/health", "/ready", "/metrics", "/openapi.json", "/docs", "/llms.txt"]) {
        const { headers, status } = yield* inlet.call("GET", path)
        assert.strictEqual(status, 200, path)
        assert.notProperty(headers, "www-authenticate")
      }
    })
  )

  it.effect("rejects every key except a complete one of this service", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key, secret } = yield* inlet.workspace
      const last = key.endsWith("A") ? "B" : "A"
      const keys = [
        "",
        " ",
        "ak_live_",
        "ak_read_",
        key.slice("ak_live_".length),
        key.replace("live", "read"),
        key.slice(0, -1),
        `${key}A`,
        `${key.slice(0, -1)}${last}`,
        key.toUpperCase(),
        `${key},${key}`,
        secret,
        "null",
        "' OR '1'='1",
        "ak_live_' OR '1'='1' --",
        "%00",
        "x".repeat(5_000)
      ]
      for (const wrong of keys) {
        const { json, status } = yield* inlet.call("GET", "/api/domains", { key: wrong })
        assert.strictEqual(status, 401, wrong.slice(0, 60))
        assert.notInclude(json.error, key)
      }
      assert.strictEqual((yield* inlet.call("GET", "/api/domains", { key })).status, 200)
    })
  )

  it.effect("accepts the key only as a bearer token, in any case of the scheme", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      const status = (path: string, headers: Readonly<Record<string, string>>) =>
        Effect.map(inlet.call("GET", path, { headers }), (answer) => answer.status)

      assert.strictEqual(yield* status("/api/domains", { authorization: `bearer ${key}` }), 200)
      assert.strictEqual(yield* status("/api/domains", { authorization: key }), 401)
      assert.strictEqual(yield* status("/api/domains", { authorization: `Basic ${key}` }), 401)
      assert.strictEqual(yield* status("/api/domains", { authorization: `Digest ${key}` }), 401)
      assert.strictEqual(
        yield* status("/api/domains", { authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` }),
        401
      )
      assert.strictEqual(yield* status(`/api/domains?api_key=${key}&access_token=${key}`, {}), 401)
      assert.strictEqual(yield* status("/api/domains", { "x-api-key": key, cookie: `api_key=${key}` }), 401)
    })
  )
})
