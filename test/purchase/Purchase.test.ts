import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as FakeRegistrar from "../../src/testing/FakeRegistrar.ts"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import { TestInlet } from "../TestInlet.ts"
import { addsUp, customer, customerOf, kindsOf } from "./Shop.ts"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The mock registrar's record of a sold name. */
const registrations = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ readonly years: number }>`SELECT years FROM mock_registrations WHERE name = ${name}`
})

layer(TestInlet.layer(), { excludeTestServices: true })("A purchase with default settings", (it) => {
  it.effect("starts with a search that shows the prices of the mock registrar", () =>
    Effect.gen(function* () {
      const { get } = yield* customer
      const { json, status } = yield* get("/api/domains/search?q=first-agent")
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(
        json.results.map(({ available, currency, domain, price, price_cents, registrar, years }: Answer["json"]) => [
          domain,
          available,
          price_cents,
          price,
          currency,
          registrar,
          years
        ]),
        [
          ["first-agent.com", true, 1_298, "12.98", "USD", "mock", 1],
          ["first-agent.net", true, 1_398, "13.98", "USD", "mock", 1],
          ["first-agent.org", true, 1_348, "13.48", "USD", "mock", 1],
          ["first-agent.io", true, 3_798, "37.98", "USD", "mock", 1],
          ["first-agent.dev", true, 1_598, "15.98", "USD", "mock", 1]
        ]
      )
    })
  )

  it.effect("is answered 201 with the complete order, for the requested years", () =>
    Effect.gen(function* () {
      const { buy, order, post } = yield* customer
      const { json, status } = yield* buy("Whole-Order.COM.", { years: 3 })
      assert.strictEqual(status, 201)
      assert.match(json.order_id, uuid)
      assert.match(json.domain_id, uuid)
      assert.match(json.created_at, instant)
      const { created_at, domain_id, next_steps, order_id, ...rest } = json
      assert.deepStrictEqual(rest, {
        domain: "whole-order.com",
        years: 3,
        registrar: "mock",
        price_cents: 3_296,
        currency: "USD",
        status: "completed",
        checkout_url: null,
        failure: null
      })
      assert.isAbove(next_steps.length, 0)
      assert.isTrue(next_steps.every((step: unknown) => typeof step === "string" && step !== ""))
      assert.include(next_steps.join(" "), `/api/domains/${domain_id}/delivery`)
      assert.deepStrictEqual(yield* order(order_id), json)
      assert.deepStrictEqual(yield* registrations("whole-order.com"), [{ years: 3 }])
      assert.strictEqual((yield* post("/api/domains/purchase", { domain: "x.com", years: 1 })).status, 409)
      assert.isBelow(Math.abs(DateTime.toEpochMillis(DateTime.makeUnsafe(created_at)) - (yield* now)), 60_000)
    })
  )

  it.effect("yields a domain that publishes its records and is verified by itself", () =>
    Effect.gen(function* () {
      const { buy, get } = yield* customer
      const { json } = yield* buy("verified.dev")
      const { json: domain } = yield* eventually(
        get(`/api/domains/${json.domain_id}`),
        (seen) => seen.json.status !== "pending_verification"
      )
      assert.strictEqual(domain.status, "mx_pending")
      assert.strictEqual(domain.origin, "purchased")
      assert.strictEqual(domain.txt_name, "_service-verify.verified.dev")
      assert.match(domain.txt_value, /^service_verify_[0-9a-f]{32}$/)
      assert.match(domain.verified_at, instant)
      const mx = yield* get(`/api/domains/${json.domain_id}/mx`)
      assert.deepStrictEqual(mx.json, {
        domain: "verified.dev",
        records: [{ type: "MX", name: "verified.dev", priority: 10, value: "mx.inlet.test" }],
        observed: [{ priority: 10, value: "mx.inlet.test" }],
        configured: true
      })
      const sql = yield* SqlClient.SqlClient
      const zone = yield* sql`SELECT name, type, priority, value FROM mock_zone_records WHERE domain = 'verified.dev'`
      assert.sameDeepMembers(
        [...zone],
        [
          { name: "verified.dev", type: "MX", priority: 10, value: "mx.inlet.test" },
          { name: "_service-verify.verified.dev", type: "TXT", priority: null, value: domain.txt_value },
          { name: "verified.dev", type: "TXT", priority: null, value: "v=spf1 -all" }
        ]
      )
    })
  )

  it.effect("is debited from a wallet of $50.00, whose ledger lists every entry", () =>
    Effect.gen(function* () {
      const { buy, wallet } = yield* customer
      const { entries, ...full } = yield* wallet
      assert.deepStrictEqual(full, { balance_cents: 5_000, balance: "50.00", currency: "USD" })
      assert.deepStrictEqual(
        entries.map(({ created_at, ...entry }: Answer["json"]) => {
          assert.match(created_at, instant)
          return entry
        }),
        [{ order_id: null, amount_cents: 5_000, kind: "opening" }]
      )
      const { json } = yield* buy("wallet.com")
      const after = yield* wallet
      assert.deepStrictEqual([after.balance_cents, after.balance], [3_702, "37.02"])
      assert.deepStrictEqual(
        after.entries.map(({ amount_cents, kind, order_id }: Answer["json"]) => [kind, order_id, amount_cents]),
        [
          ["debit", json.order_id, -1_298],
          ["opening", null, 5_000]
        ]
      )
      assert.isTrue(addsUp(after))
    })
  )

  it.effect("is visible only to its workspace, as is its wallet", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const owner = yield* customer
      const other = yield* customer
      const { json } = yield* owner.buy("mine.com")
      const seen = yield* other.get(`/api/domains/orders/${json.order_id}`)
      assert.deepStrictEqual(
        [seen.status, seen.json],
        [404, { error: "No order with this id in this workspace. GET /api/domains/orders lists them" }]
      )
      const unknown = yield* other.get("/api/domains/orders/01980000-0000-7000-8000-000000000001")
      assert.deepStrictEqual([unknown.status, unknown.json], [seen.status, seen.json])
      assert.strictEqual((yield* other.get("/api/domains/orders/mine")).status, 404)
      assert.strictEqual((yield* other.wallet).balance_cents, 5_000)

      const nobody = customerOf(inlet.call, { id: "", key: "ak_live_nobody" })
      for (const answer of [
        yield* nobody.get("/api/domains/search?q=agent"),
        yield* nobody.buy("nobody.com"),
        yield* nobody.get(`/api/domains/orders/${json.order_id}`),
        yield* nobody.get("/api/domains/wallet")
      ]) {
        assert.strictEqual(answer.status, 401)
      }
    })
  )

  const unwell: Readonly<Record<string, readonly [body: Record<string, unknown>, message: RegExp]>> = {
    "zero years": [{ years: 0 }, /^years: Expected a whole number from 1 to 10/],
    "eleven years": [{ years: 11 }, /^years: Expected a whole number from 1 to 10/],
    "a negative number of years": [{ years: -1 }, /^years: Expected a whole number from 1 to 10/],
    "a year and a half": [{ years: 1.5 }, /^years: Expected/],
    "1e300 years": [{ years: 1e300 }, /^years: Expected/],
    "years as text": [{ years: "1" }, /^years: Expected/],
    "no years": [{ years: undefined }, /^years: Expected a value, but it is missing/],
    "no name": [{ domain: undefined }, /^domain: Expected a value, but it is missing/],
    "a name that is not text": [{ domain: 7 }, /^domain: Expected/],
    "a single label": [{ domain: "agent" }, /^domain: Expected/],
    "a name below another": [{ domain: "mail.agent.com" }, /^domain: Expected/],
    "a public suffix": [{ domain: "co.uk" }, /^domain: Expected/],
    "an unknown registrar": [{ registrar: "acme" }, /^registrar: Expected one of mock\. Without it Inlet chooses/],
    "a registrar that is not configured": [
      { registrar: "namecheap" },
      /^registrar: Expected one of mock\. Without it Inlet chooses/
    ],
    "a javascript: success_url": [{ success_url: "javascript:alert(1)" }, /^success_url: Expected an absolute http or/],
    "a success_url without a host": [{ success_url: "/thanks" }, /^success_url: Expected an absolute http or/],
    "a cancel_url that is not http(s)": [
      { cancel_url: "ftp://shop.example/" },
      /^cancel_url: Expected an absolute http or/
    ],
    "an overlong cancel_url": [
      { cancel_url: `https://shop.example/${"a".repeat(2_048)}` },
      /^cancel_url: Expected an absolute http or/
    ]
  }

  it.effect("is answered 400 for an invalid request, which changes nothing", () =>
    Effect.gen(function* () {
      const { id, post, wallet } = yield* customer
      for (const [what, [body, message]] of Object.entries(unwell)) {
        const { json, status } = yield* post("/api/domains/purchase", { domain: "well.com", years: 1, ...body })
        assert.strictEqual(status, 400, what)
        assert.match(json.error, message, what)
      }
      for (const query of ["", "?q=", "?q=a%20b", "?q=agent&tlds=", `?q=agent&tlds=${"com,".repeat(21)}`]) {
        const { status } = yield* Effect.flatMap(customer, ({ get }) => get(`/api/domains/search${query}`))
        assert.strictEqual(status, 400, query)
      }
      assert.strictEqual((yield* wallet).balance_cents, 5_000)
      const sql = yield* SqlClient.SqlClient
      assert.lengthOf(yield* sql`SELECT 1 FROM orders WHERE workspace_id = ${id}`, 0)
    })
  )

  it.effect("accepts return URLs of the customer", () =>
    Effect.gen(function* () {
      const { buy } = yield* customer
      const { status } = yield* buy("pages.com", {
        success_url: "https://shop.example/thanks?for={CHECKOUT_SESSION_ID}",
        cancel_url: "http://localhost:8080/"
      })
      assert.strictEqual(status, 201)
    })
  )

  it.effect("is answered 409 for a name with an owner, at the vendor or in this service", () =>
    Effect.gen(function* () {
      const { buy, wallet } = yield* customer
      assert.strictEqual((yield* (yield* customer).buy("sold-already.com")).status, 201)
      for (const name of ["taken.com", "sold-already.com"]) {
        const { json, status } = yield* buy(name)
        assert.strictEqual(status, 409)
        assert.strictEqual(json.error, `${name} is taken. Choose another domain`)
      }
      assert.strictEqual((yield* wallet).balance_cents, 5_000)
    })
  )

  it.effect(
    "is answered 409 for a name that lapsed and that another workspace has verified, which would get its mail",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { buy, wallet } = yield* customer
        const { post } = yield* customer
        yield* post("/api/domains", { domain: "lapsed.com" })
        yield* sql`UPDATE domains SET status = 'live', verified_at = now() WHERE name = 'lapsed.com'`
        const { json, status } = yield* buy("lapsed.com")
        assert.strictEqual(status, 409)
        assert.match(json.error, /^Another workspace of this service holds lapsed\.com\. .*ask the operator/)
        assert.strictEqual((yield* wallet).balance_cents, 5_000)
        yield* sql`DELETE FROM domains WHERE name = 'lapsed.com'`
        assert.strictEqual((yield* buy("lapsed.com")).status, 201)
      })
  )

  it.effect("is answered 400 for a name of the platform, with the next step", () =>
    Effect.gen(function* () {
      const { buy } = yield* customer
      const { json, status } = yield* buy("inlet.test")
      assert.deepStrictEqual(
        [status, json.error],
        [400, "domain: inlet.test belongs to this service. POST /api/instant-inbox creates an address under it"]
      )
    })
  )

  it.effect("is listed among the orders of its workspace, newest first, in pages", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { buy, get, key } = yield* customer
      const names = ["listed-1.com", "listed-2.com", "listed-3.com"]
      for (const name of names) {
        const { json } = yield* buy(name)
        yield* inlet.call("DELETE", `/api/domains/${json.domain_id}`, { key })
      }
      const first = (yield* get("/api/domains/orders?limit=2")).json
      const second = (yield* get(`/api/domains/orders?limit=2&cursor=${first.next_cursor}`)).json
      const listed = [...first.orders, ...second.orders].map(({ domain }) => domain)
      assert.deepStrictEqual([listed, second.next_cursor], [names.toReversed(), null])
      assert.deepStrictEqual((yield* (yield* customer).get("/api/domains/orders")).json.orders, [])
      assert.strictEqual((yield* get("/api/domains/orders?cursor=x")).status, 400)
    })
  )

  it.effect("is answered 409 with price and balance if the wallet is short, and registers nothing", () =>
    Effect.gen(function* () {
      const { buy, id, wallet } = yield* customer
      const { json, status } = yield* buy("too-dear.io", { years: 2 })
      assert.strictEqual(status, 409)
      assert.strictEqual(
        json.error,
        "The wallet has too little money. The domain costs $72.97 and the balance is $50.00. Order fewer years or another name: GET /api/domains/search?q=… has prices"
      )
      assert.lengthOf((yield* wallet).entries, 1)
      assert.deepStrictEqual(yield* registrations("too-dear.io"), [])
      const sql = yield* SqlClient.SqlClient
      assert.lengthOf(yield* sql`SELECT 1 FROM orders WHERE workspace_id = ${id}`, 0)
    })
  )

  it.effect("is answered 409 while the workspace has its domain, bought or own", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { buy, key, post, wallet } = yield* customer
      const own = yield* post("/api/domains", { domain: "own.example.com" })
      const full = yield* buy("one-more.com")
      assert.strictEqual(full.status, 409)
      assert.match(full.json.error, /^A workspace can have 1 domain of its own, and has own\.example\.com/)
      yield* inlet.call("DELETE", `/api/domains/${own.json.id}`, { key })
      const bought = yield* buy("one-more.com")
      assert.strictEqual(bought.status, 201)
      assert.strictEqual((yield* buy("yet-one-more.com")).status, 409)
      assert.strictEqual((yield* post("/api/domains", { domain: "own.example.com" })).status, 409)
      assert.strictEqual((yield* wallet).balance_cents, 3_702)

      yield* inlet.call("DELETE", `/api/domains/${bought.json.domain_id}`, { key })
      const deleted = yield* inlet.call("GET", `/api/domains/orders/${bought.json.order_id}`, { key })
      assert.deepStrictEqual([deleted.json.status, deleted.json.domain_id], ["completed", null])
      assert.notInclude(deleted.json.next_steps.join(" "), "null")
    })
  )

  it.effect("is not lost with its domain: POST /api/domains attaches the name again, with new records", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { buy, get, key, order, post, wallet } = yield* customer
      const bought = yield* buy("come-back.com")
      yield* inlet.call("DELETE", `/api/domains/${bought.json.domain_id}`, { key })
      const twice = yield* buy("come-back.com")
      assert.strictEqual(twice.status, 409)
      assert.match(twice.json.error, /POST \/api\/domains with \{"domain": "come-back\.com"\} attaches it again/)
      assert.match((yield* order(bought.json.order_id)).next_steps.join(" "), /attaches it again/)
      const stranger = yield* customer
      assert.strictEqual((yield* stranger.post("/api/domains", { domain: "come-back.com" })).json.origin, "byo")

      const { json: again, status } = yield* post("/api/domains", { domain: "come-back.com" })
      assert.deepStrictEqual([status, again.origin, again.status], [201, "purchased", "pending_verification"])
      const { json: domain } = yield* eventually(
        get(`/api/domains/${again.id}`),
        (seen) => seen.json.status !== "pending_verification"
      )
      assert.deepStrictEqual([domain.status, domain.txt_value], ["mx_pending", again.txt_value])
      const { domain_id, status: state } = yield* order(bought.json.order_id)
      assert.deepStrictEqual([state, domain_id], ["completed", again.id])
      // Paid once, registered once.
      assert.strictEqual((yield* wallet).balance_cents, 3_702)
      assert.lengthOf(yield* registrations("come-back.com"), 1)
    })
  )

  it.effect("is its own no longer after its term", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { buy, key, post } = yield* customer
      const bought = yield* buy("term-over.com")
      yield* inlet.call("DELETE", `/api/domains/${bought.json.domain_id}`, { key })
      yield* sql`UPDATE orders SET created_at = now() - interval '1 year' WHERE id = ${bought.json.order_id}`
      assert.strictEqual((yield* post("/api/domains", { domain: "term-over.com" })).json.origin, "byo")
    })
  )

  it.effect("is answered 409 for a name that the workspace registered as its own", () =>
    Effect.gen(function* () {
      const { buy, post } = yield* customer
      yield* post("/api/domains", { domain: "own-name.com" })
      const { json, status } = yield* buy("own-name.com")
      assert.strictEqual(status, 409)
      assert.match(json.error, /^own-name\.com is already in this workspace. GET \/api\/domains\/[\da-f-]+ /)
    })
  )

  it.effect("is accepted once of several concurrent ones if the workspace has room for one", () =>
    Effect.gen(function* () {
      const { buy, wallet } = yield* customer
      const answers = yield* Effect.forEach(
        ["a", "b", "c", "d", "e", "f", "g", "h"],
        (label) => buy(`${label}-at-once.com`),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409, 409, 409, 409, 409, 409])
      const [bought] = answers.filter(({ status }) => status === 201)
      const after = yield* wallet
      assert.strictEqual(after.balance_cents, 3_702)
      assert.deepStrictEqual(kindsOf(after, bought?.json.order_id), ["debit"])
    })
  )

  it.effect("has no route for payment callbacks", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { status } = yield* inlet.call("POST", "/api/webhooks/stripe", { body: "{}" })
      assert.strictEqual(status, 404)
    })
  )
})

layer(TestInlet.layer({}, FakeRegistrar.make({ prices: {} }).layer), {
  excludeTestServices: true
})("A TLD without a registrar", (it) => {
  it.effect("is reported as unsupported, not as a taken name", () =>
    Effect.gen(function* () {
      const { buy } = yield* customer
      const { json, status } = yield* buy("first-agent.museum")
      assert.strictEqual(status, 409)
      assert.strictEqual(json.error, "No registrar of this service sells domains under .museum. Choose another TLD")
    })
  )
})

const now = Effect.map(DateTime.now, DateTime.toEpochMillis)

const RoomForMany = TestInlet.layer({ MAX_DOMAINS_PER_WORKSPACE: "0" })

/** Fewer than the concurrent requests of a workspace. */
const mostOpen = 30

const names = (label: string, count: number) => Array.from({ length: count }, (_, index) => `${label}-${index}.com`)

layer(RoomForMany, { excludeTestServices: true })("Concurrent purchases", (it) => {
  it.effect("by one workspace never overdraw its wallet, and the ledger sums to the balance", () =>
    Effect.gen(function* () {
      const { buy, id, wallet } = yield* customer
      const answers = yield* Effect.forEach(names(`greedy-${id}`, 50), (name) => buy(name), { concurrency: mostOpen })
      const bought = answers.filter(({ status }) => status === 201)
      // $50.00 is enough for three at $12.98.
      assert.lengthOf(bought, 3)
      for (const { json, status } of answers) {
        if (status !== 201) {
          assert.strictEqual(status, 409)
          assert.match(
            json.error,
            /^The wallet has too little money. The domain costs \$12\.98 and the balance is \$\d+\.\d\d\. Order fewer years/
          )
        }
      }
      const after = yield* wallet
      assert.strictEqual(after.balance_cents, 5_000 - 3 * 1_298)
      assert.isTrue(addsUp(after))
      assert.lengthOf(after.entries, 4)
      assert.sameMembers(
        after.entries.slice(0, 3).map(({ order_id }: Answer["json"]) => order_id),
        bought.map(({ json }) => json.order_id)
      )
      const sql = yield* SqlClient.SqlClient
      const sold = yield* sql<{
        readonly name: string
      }>`SELECT name FROM mock_registrations WHERE name LIKE ${`greedy-${id}-%`}`
      assert.sameMembers(
        sold.map(({ name }) => name),
        bought.map(({ json }) => json.domain)
      )
    })
  )

  it.effect("by five workspaces debit each correctly", () =>
    Effect.gen(function* () {
      const customers = yield* Effect.replicateEffect(customer, 5)
      yield* Effect.forEach(
        customers.flatMap(({ buy, id }) => names(`shared-${id}`, 10).map((name) => buy(name))),
        (purchase) => purchase,
        { concurrency: "unbounded", discard: true }
      )
      for (const { wallet } of customers) {
        const after = yield* wallet
        assert.strictEqual(after.balance_cents, 5_000 - 3 * 1_298)
        assert.isTrue(addsUp(after))
      }
    })
  )

  it.effect("of one name by several workspaces sell it once, and the others are refused at once", () =>
    Effect.gen(function* () {
      const customers = yield* Effect.replicateEffect(customer, 50, { concurrency: 5 })
      const answers = yield* Effect.forEach(customers, ({ buy }) => buy("wanted-by-all.com"), {
        concurrency: "unbounded"
      })
      assert.lengthOf(
        answers.filter(({ status }) => status === 201),
        1
      )
      const others = answers.filter(({ status }) => status !== 201)
      for (const { status, text } of others) assert.strictEqual(status, 409, text)
      assert.lengthOf(yield* registrations("wanted-by-all.com"), 1)
      const wallets = yield* Effect.forEach(customers, ({ wallet }) => wallet)
      assert.isTrue(wallets.every(addsUp))
      assert.lengthOf(
        wallets.filter(({ balance_cents }) => balance_cents === 3_702),
        1
      )
      assert.lengthOf(
        wallets.filter(({ balance_cents }) => balance_cents === 5_000),
        49
      )
    })
  )

  it.effect("of one name by one workspace buy it once", () =>
    Effect.gen(function* () {
      const { buy, id, wallet } = yield* customer
      const answers = yield* Effect.replicateEffect(buy(`once-${id}.com`), 50, { concurrency: mostOpen })
      for (const { status, text } of answers) assert.include([201, 409], status, text)
      assert.lengthOf(
        answers.filter(({ status }) => status === 201),
        1
      )
      const after = yield* wallet
      assert.deepStrictEqual([after.balance_cents, addsUp(after)], [3_702, true])
    })
  )
})
