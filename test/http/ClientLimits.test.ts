import { assert, describe, layer, it as test } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import { Headers } from "effect/http"
import { SqlClient } from "effect/sql"
import * as ClientAddress from "../../src/http/requests/ClientAddress.ts"
import { TestInlet } from "../TestInlet.ts"

const production = {
  NODE_ENV: "production",
  HTTP_HOST: "127.0.0.1",
  SMTP_HOST: "127.0.0.1",
  SERVICE_PUBLIC_URL: "https://inlet.example.com",
  PLATFORM_DOMAIN: "inlet.example.com",
  SECRETS_KEY: Buffer.alloc(32, 7).toString("base64")
}

const create = Effect.fnUntraced(function* (forwardedFor?: string, name = "limited") {
  const inlet = yield* TestInlet
  return yield* inlet.call("POST", "/api/workspaces", {
    body: { name },
    headers: forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor }
  })
})

const openDemo = Effect.fnUntraced(function* (forwardedFor: string) {
  const inlet = yield* TestInlet
  return yield* inlet.call("POST", "/api/demo/inbox", { headers: { "x-forwarded-for": forwardedFor } })
})

const statuses = (answers: ReadonlyArray<{ readonly status: number }>) => answers.map(({ status }) => status).sort()

layer(TestInlet.layer({ ...production, WORKSPACE_CREATION: "admin", ADMIN_TOKEN: "operator-token-1" }), {
  excludeTestServices: true
})("In production with WORKSPACE_CREATION=admin, the operator", (it) => {
  it.effect("creates more workspaces a day than a stranger may", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const team = inlet.call("POST", "/api/workspaces", { key: "operator-token-1", body: { name: "team" } })
      const made = yield* Effect.replicateEffect(team, 5)
      assert.deepStrictEqual(statuses(made), [201, 201, 201, 201, 201])
    })
  )

  it.effect("gives agents their keys, as /llms.txt tells them", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { text } = yield* inlet.call("GET", "/llms.txt")
      assert.include(text, "\n1. The operator of this instance gives you an api_key")
      assert.notInclude(text, "1. POST /api/workspaces")
    })
  )
})

layer(TestInlet.layer({ ...production, TRUST_PROXY: "1" }), { excludeTestServices: true })(
  "In production behind one proxy, a client",
  (it) => {
    it.effect("creates three workspaces a day, and the fourth is 429 until midnight UTC", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const made = yield* Effect.replicateEffect(create("192.0.2.1"), 3)
        assert.deepStrictEqual(statuses(made), [201, 201, 201])
        const fourth = yield* create("192.0.2.1")
        assert.strictEqual(fourth.status, 429)
        assert.deepStrictEqual(fourth.json, {
          error: "Your address has reached its limit of 3 a day. It can create the next workspace after midnight UTC"
        })
        const [left] = yield* sql<{ readonly seconds: number }>`
          SELECT extract(epoch FROM date_trunc('day', now(), 'UTC') + interval '1 day' - now())::float8 AS seconds
        `
        assert.approximately(Number(fourth.headers["retry-after"]), left?.seconds ?? 0, 30)
        assert.match(fourth.headers["retry-after"] ?? "", /^\d+$/)
      })
    )

    it.effect("creates three demo inboxes a day in addition, without counting an existing cookie", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        yield* create("192.0.2.2")
        const first = yield* openDemo("192.0.2.2")
        const cookie = (first.headers["set-cookie"] ?? "").split(";")[0] ?? ""
        const headers = { cookie, "x-forwarded-for": "192.0.2.2" }
        const again = yield* Effect.replicateEffect(inlet.call("POST", "/api/demo/inbox", { headers }), 5)
        assert.deepStrictEqual(statuses(again), [200, 200, 200, 200, 200])
        assert.deepStrictEqual(statuses(yield* Effect.replicateEffect(openDemo("192.0.2.2"), 2)), [201, 201])
        const fourth = yield* openDemo("192.0.2.2")
        assert.strictEqual(fourth.status, 429)
        assert.match(fourth.json.error, /demo inbox/)
        assert.isUndefined(fourth.headers["set-cookie"])
        assert.strictEqual((yield* inlet.call("POST", "/api/demo/inbox", { headers })).status, 200)
      })
    )

    it.effect("gets a Secure demo cookie", () =>
      Effect.gen(function* () {
        const { headers } = yield* openDemo("192.0.2.3")
        assert.match(headers["set-cookie"] ?? "", /; HttpOnly; Secure; SameSite=Lax$/)
      })
    )

    it.effect("creates three of twenty concurrent workspaces", () =>
      Effect.gen(function* () {
        const answers = yield* Effect.forEach(Array.range(1, 20), () => create("192.0.2.4"), {
          concurrency: "unbounded"
        })
        assert.lengthOf(
          answers.filter(({ status }) => status === 201),
          3
        )
        assert.lengthOf(
          answers.filter(({ status }) => status === 429),
          17
        )
      })
    )

    it.effect("is not charged for refused requests", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* create("192.0.2.5", "")).status, 400)
        const made = yield* Effect.replicateEffect(create("192.0.2.5"), 3)
        assert.deepStrictEqual(statuses(made), [201, 201, 201])
      })
    )

    it.effect("has a new quota the next day", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Effect.replicateEffect(create("192.0.2.6"), 3)
        assert.strictEqual((yield* create("192.0.2.6")).status, 429)
        yield* sql`UPDATE client_limits SET day = day - 1 WHERE client = '192.0.2.6'`
        assert.strictEqual((yield* create("192.0.2.6")).status, 201)
      })
    )

    it.effect("is the address that the proxy saw, not an earlier one or another header", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        yield* Effect.replicateEffect(create("192.0.2.7"), 3)
        assert.strictEqual((yield* create("198.51.100.1, 192.0.2.7")).status, 429)
        for (const name of ["x-real-ip", "forwarded", "cf-connecting-ip", "true-client-ip"]) {
          const headers = { "x-forwarded-for": "192.0.2.7", [name]: "198.51.100.1" }
          const { status } = yield* inlet.call("POST", "/api/workspaces", { body: { name: "spoof" }, headers })
          assert.strictEqual(status, 429, name)
        }
        assert.strictEqual((yield* create("192.0.2.7, 198.51.100.1")).status, 201)
      })
    )

    it.effect("is an IPv6 /64 as a whole", () =>
      Effect.gen(function* () {
        for (const address of ["2001:db8:1:2::1", "2001:db8:1:2:ffff::", "[2001:DB8:1:2::3]:443"]) {
          assert.strictEqual((yield* create(address)).status, 201)
        }
        assert.strictEqual((yield* create("2001:db8:1:2::4")).status, 429)
        assert.strictEqual((yield* create("2001:db8:1:3::1")).status, 201)
      })
    )
  }
)

layer(TestInlet.layer(production), { excludeTestServices: true })("In production without a proxy, a client", (it) => {
  it.effect("is the address of its connection, whatever its headers say", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const answers = yield* Effect.forEach(["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"], (spoof) =>
        create(spoof)
      )
      assert.deepStrictEqual(statuses(answers), [201, 201, 201, 429])
      const rows = yield* sql`SELECT client, count FROM client_limits`
      assert.deepStrictEqual(rows, [{ client: "127.0.0.1", count: 3 }])
    })
  )
})

layer(TestInlet.layer({ ...production, WORKSPACES_PER_IP_PER_DAY: "0" }), {
  excludeTestServices: true
})("With WORKSPACES_PER_IP_PER_DAY=0, a client", (it) => {
  it.effect("creates any number of workspaces", () =>
    Effect.gen(function* () {
      assert.isTrue((yield* Effect.replicateEffect(create(), 5)).every(({ status }) => status === 201))
    })
  )
})

layer(TestInlet.layer({ ...production, ADMIN_TOKEN: "operator-token-1", WORKSPACES_PER_IP_PER_DAY: "1" }), {
  excludeTestServices: true
})("In production with the operator's token, a client", (it) => {
  it.effect("creates workspaces beyond the limit of strangers", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const made = inlet.call("POST", "/api/workspaces", { key: "operator-token-1", body: { name: "team" } })
      assert.deepStrictEqual(statuses(yield* Effect.replicateEffect(made, 3)), [201, 201, 201])
      assert.deepStrictEqual(statuses(yield* Effect.replicateEffect(create(), 2)), [201, 429])
    })
  )
})

layer(TestInlet.layer({ WORKSPACES_PER_IP_PER_DAY: "1" }), { excludeTestServices: true })(
  "In development, a client",
  (it) => {
    it.effect("creates any number of workspaces", () =>
      Effect.gen(function* () {
        assert.isTrue((yield* Effect.replicateEffect(create(), 5)).every(({ status }) => status === 201))
      })
    )
  }
)

describe("The client address", () => {
  const of = (proxies: number, socket: string | undefined, forwardedFor?: string) =>
    ClientAddress.of(
      {
        headers: Headers.fromInput(forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor }),
        remoteAddress: Option.fromUndefinedOr(socket)
      },
      proxies
    )
  const cases: ReadonlyArray<readonly [name: string, found: string, expected: string]> = [
    ["is the socket's without a proxy", of(0, "203.0.113.9", "192.0.2.1"), "203.0.113.9"],
    ["is IPv4 for an IPv4-mapped IPv6 address", of(0, "::ffff:203.0.113.9"), "203.0.113.9"],
    ["is the /64 of an IPv6 address", of(0, "2001:db8:a:b:1:2:3:4"), "2001:db8:a:b::/64"],
    ["has no zone", of(0, "fe80::1%eth0"), "fe80:0:0:0::/64"],
    ["is the n-th from the right behind n proxies", of(2, "10.0.0.1", "192.0.2.1, 192.0.2.2, 192.0.2.3"), "192.0.2.2"],
    ["is the socket's behind fewer proxies than configured", of(2, "203.0.113.9", "192.0.2.1"), "203.0.113.9"],
    ["is the socket's without a forwarded address", of(1, "203.0.113.9"), "203.0.113.9"],
    ["is the socket's if the forwarded address is malformed", of(1, "203.0.113.9", "unknown"), "203.0.113.9"],
    ["may have a port", of(1, "10.0.0.1", "192.0.2.1:5678"), "192.0.2.1"],
    ["is not parsed from similar text", of(1, "203.0.113.9", "192.0.2.1.example"), "203.0.113.9"],
    ["is empty if the socket has none", of(0, undefined), "unknown"]
  ]
  for (const [name, found, expected] of cases) test(name, () => assert.strictEqual(found, expected))
})
