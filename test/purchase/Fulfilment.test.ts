import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as OrderSteps from "../../src/purchase/OrderSteps.ts"
import { eventually } from "../Eventually.ts"
import * as Namecheap from "../simulators/Namecheap.ts"
import { Vendor } from "../simulators/Vendor.ts"
import { TestInlet } from "../TestInlet.ts"
import { addsUp, type Customer, customer, inletWithNamecheap, inletWithOpenprovider, kindsOf, letDue } from "./Shop.ts"

/** The simulator's price of .com, and the markup. */
const price = 1_028 + 299

/** Waits until the next check of an order has made a call of this kind. */
const another = Effect.fnUntraced(function* (operation: Parameters<Vendor["Service"]["asked"]>[0], orderId: string) {
  const vendor = yield* Vendor
  const sql = yield* SqlClient.SqlClient
  const before = yield* vendor.asked(operation)
  yield* letDue(orderId)
  yield* eventually(vendor.asked(operation), (count) => count > before)
  yield* eventually(
    sql`SELECT 1 FROM orders WHERE id = ${orderId} AND leased_until IS NOT NULL`,
    (rows) => rows.length === 0
  )
})

/** Waits until an order that is due was looked at. Returns the seconds until its next step. */
const pause = Effect.fnUntraced(function* (orderId: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* eventually(
    sql<{ readonly seconds: number }>`
      SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM orders
      WHERE id = ${orderId} AND due_at > now() AND leased_until IS NULL
    `,
    (rows) => rows.length > 0
  )
  return row?.seconds ?? 0
})

/** One debit and its refund. */
const assertGivenBack = Effect.fnUntraced(function* ({ wallet }: Customer, orderId: string) {
  // The order fails before the refund.
  const after = yield* eventually(wallet, (now) => kindsOf(now, orderId).length > 1)
  assert.deepStrictEqual(kindsOf(after, orderId), ["debit", "refund"])
  assert.strictEqual(after.balance_cents, 5_000)
  assert.isTrue(addsUp(after))
})

/** One debit without a refund. */
const assertCharged = Effect.fnUntraced(function* ({ wallet }: Customer, orderId: string) {
  const after = yield* wallet
  assert.deepStrictEqual(kindsOf(after, orderId), ["debit"])
  assert.strictEqual(after.balance_cents, 5_000 - price)
  assert.isTrue(addsUp(after))
})

/** The only order of a workspace. */
const orderOf = Effect.fnUntraced(function* ({ id, order }: Customer) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: string }>`SELECT id FROM orders WHERE workspace_id = ${id}`
  return yield* order(row?.id ?? "none")
})

layer(inletWithNamecheap(), { excludeTestServices: true })("A registrar that, after the debit,", (it) => {
  it.effect("registers and publishes gives 201, with one call each and every record in the zone", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      const { json, status } = yield* someone.buy("plain.com", { years: 2 })
      assert.deepStrictEqual([status, json.status, json.price_cents], [201, "completed", 2 * 1_028 + 299])
      assert.strictEqual(yield* vendor.asked("register"), 1)
      assert.strictEqual(yield* vendor.asked("publish"), 1)
      assert.strictEqual((yield* vendor.sale("plain.com"))?.years, 2)
      const domain = yield* someone.get(`/api/domains/${json.domain_id}`)
      assert.sameDeepMembers(
        [...((yield* vendor.zone("plain.com")) ?? [])],
        [
          { type: "MX", name: "@", priority: 10, value: "mx.inlet.test" },
          { type: "TXT", name: "_service-verify", value: domain.json.txt_value },
          { type: "TXT", name: "@", value: "v=spf1 -all" }
        ]
      )
    })
  )

  it.effect("refuses gives 502, a failed order and one refund", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      yield* vendor.mishaps("register", { error: 2030280, text: "TLD is not supported in API" })
      const { json, status } = yield* someone.buy("refused.com")
      assert.strictEqual(status, 502)
      const order = yield* orderOf(someone)
      assert.strictEqual(
        json.error,
        `The registrar refused: TLD is not supported in API (2030280). The price was given back; order ${order.order_id} tells more`
      )
      assert.deepStrictEqual(
        [order.status, order.failure, order.domain_id, order.price_cents],
        ["failed", "The registrar refused: TLD is not supported in API (2030280)", null, price]
      )
      assert.include(order.next_steps.join(" "), "given back")
      yield* assertGivenBack(someone, order.order_id)
      assert.isUndefined(yield* vendor.sale("refused.com"))
      assert.deepStrictEqual((yield* someone.get("/api/domains")).json.domains, [])

      // The money and the name are available for another order.
      const again = yield* someone.buy("refused.com")
      assert.strictEqual(again.status, 201)
      assert.strictEqual((yield* someone.wallet).balance_cents, 5_000 - price)
    })
  )

  it.effect("refuses an order of another billing provider, whose price is not given back as play money", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const sql = yield* SqlClient.SqlClient
      const someone = yield* customer
      yield* vendor.mishaps("register", { error: 2030280, text: "TLD is not supported in API" })
      const name = "other-billing.com"
      assert.strictEqual((yield* someone.buy(name)).status, 502)
      const [order] = yield* sql<{ readonly id: string }>`
          UPDATE orders SET billing = 'stripe', payment_id = 'pi_1', refund_due = true, due_at = now()
          WHERE name = ${name} RETURNING id
        `
      const { balance_cents: before } = yield* someone.wallet
      const row = sql<{ readonly isLater: boolean; readonly refundDue: boolean }>`
          SELECT due_at > now() AND leased_until IS NULL AS is_later, refund_due FROM orders WHERE id = ${order?.id ?? ""}
        `
      const [looked] = yield* eventually(row, ([one]) => one?.isLater === true)
      assert.isTrue(looked?.refundDue)
      assert.strictEqual((yield* someone.wallet).balance_cents, before)
      yield* sql`UPDATE orders SET refund_due = false WHERE name = ${name}`
    })
  )

  it.effect("has sold the name to another customer gives 409 and a refund", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      yield* vendor.mishaps("register", { error: 3019166, text: "Domain name not available" })
      const { json, status } = yield* someone.buy("gone-meanwhile.com")
      assert.strictEqual(status, 409)
      const order = yield* orderOf(someone)
      assert.strictEqual(
        json.error,
        `The name was taken meanwhile. The price was given back; order ${order.order_id} tells more`
      )
      assert.strictEqual(order.status, "failed")
      yield* assertGivenBack(someone, order.order_id)
    })
  )

  it.effect("registers and drops the connection gives 202, and a look-up before any repeat", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      const before = yield* vendor.asked("register")
      yield* vendor.mishaps("register", "hang-up")
      const { json, status } = yield* someone.buy("silent.com")
      assert.deepStrictEqual([status, json.status, json.domain_id], [202, "registering", null])
      yield* assertCharged(someone, json.order_id)

      yield* letDue(json.order_id)
      const done = yield* someone.orderThatIs(json.order_id, "completed")
      assert.isString(done.domain_id)
      assert.strictEqual(yield* vendor.asked("register"), before + 1)
      assert.isDefined(yield* vendor.zone("silent.com"))
      yield* assertCharged(someone, json.order_id)
    })
  )

  it.effect("is not asked for a name that another workspace verified gives the price back", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const sql = yield* SqlClient.SqlClient
      const someone = yield* customer
      const before = yield* vendor.asked("register")
      yield* vendor.mishaps("holds", "rubbish")
      const { json } = yield* someone.buy("verified-later.com")
      yield* sql`
        INSERT INTO domains (id, name, origin, status, verified_at)
        VALUES (gen_random_uuid(), 'verified-later.com', 'byo', 'live', now())
      `
      yield* letDue(json.order_id)
      const order = yield* someone.orderThatIs(json.order_id, "failed")
      assert.strictEqual(order.failure, "Another workspace of this service holds the name")
      assert.strictEqual(yield* vendor.asked("register"), before)
      yield* assertGivenBack(someone, json.order_id)
    })
  )

  it.effect("takes the order and registers days later gives 202, one registration and no refund", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      const before = yield* vendor.asked("register")
      yield* vendor.pending("later.com", true)
      const { json, status } = yield* someone.buy("later.com")
      assert.deepStrictEqual([status, json.status, json.domain_id], [202, "registering", null])
      assert.match(json.next_steps[0], /^The registrar has taken the order\. The registry has 14 days/)
      for (let look = 0; look < 6; look++) yield* another("holds", json.order_id)
      assert.strictEqual((yield* someone.order(json.order_id)).status, "registering")
      assert.strictEqual(yield* vendor.asked("register"), before + 1)
      assert.deepStrictEqual((yield* someone.get("/api/domains")).json.domains, [])
      yield* assertCharged(someone, json.order_id)

      yield* vendor.pending("later.com", false)
      yield* letDue(json.order_id)
      yield* someone.orderThatIs(json.order_id, "completed")
      assert.strictEqual(yield* vendor.asked("register"), before + 1)
      assert.isDefined(yield* vendor.zone("later.com"))
      yield* assertCharged(someone, json.order_id)
    })
  )

  it.effect("takes the order and never registers makes it fail after 14 days, with one refund", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const sql = yield* SqlClient.SqlClient
      const someone = yield* customer
      const before = yield* vendor.asked("register")
      yield* vendor.pending("refused-later.com", true)
      const { json } = yield* someone.buy("refused-later.com")
      yield* sql`UPDATE orders SET tries = ${OrderSteps.mostLooks - 1} WHERE id = ${json.order_id}`
      yield* another("holds", json.order_id)
      assert.strictEqual((yield* someone.order(json.order_id)).status, "registering")
      yield* assertCharged(someone, json.order_id)

      yield* letDue(json.order_id)
      const order = yield* someone.orderThatIs(json.order_id, "failed")
      assert.strictEqual(order.failure, "The registry did not register the name within 14 days")
      assert.strictEqual(yield* vendor.asked("register"), before + 1)
      yield* assertGivenBack(someone, json.order_id)
    })
  )

  it.effect("is no longer configured makes an order without a request fail after 14 days, with one refund", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const sql = yield* SqlClient.SqlClient
      const someone = yield* customer
      yield* vendor.mishaps("holds", "rubbish")
      const { json, status } = yield* someone.buy("never-asked.com")
      assert.deepStrictEqual([status, json.status], [202, "registering"])
      const [row] = yield* sql`
        UPDATE orders SET registrar = 'openprovider', due_at = now() WHERE id = ${json.order_id} RETURNING tries, registrations
      `
      assert.deepStrictEqual(row, { tries: 1, registrations: 0 })
      // The second of the growing pauses.
      assert.closeTo(yield* pause(json.order_id), 30, 5)

      yield* sql`UPDATE orders SET tries = ${OrderSteps.mostLooks - 1} WHERE id = ${json.order_id}`
      yield* letDue(json.order_id)
      assert.closeTo(yield* pause(json.order_id), 3_600, 60)
      assert.strictEqual((yield* someone.order(json.order_id)).status, "registering")
      yield* assertCharged(someone, json.order_id)

      yield* letDue(json.order_id)
      const order = yield* someone.orderThatIs(json.order_id, "failed")
      assert.strictEqual(order.failure, "The registrar of the order is not configured any more")
      yield* assertGivenBack(someone, json.order_id)
    })
  )

  it.effect("is no longer configured after a request keeps the money until it is again", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const sql = yield* SqlClient.SqlClient
      const someone = yield* customer
      yield* vendor.mishaps("register", "hang-up")
      const { json } = yield* someone.buy("asked-once.com")
      yield* sql`
        UPDATE orders SET registrar = 'openprovider', tries = ${OrderSteps.mostLooks}, due_at = now()
        WHERE id = ${json.order_id} AND registrations = 1
      `
      assert.closeTo(yield* pause(json.order_id), 3_600, 60)
      assert.strictEqual((yield* someone.order(json.order_id)).status, "registering")
      yield* assertCharged(someone, json.order_id)

      yield* sql`UPDATE orders SET registrar = 'namecheap', due_at = now() WHERE id = ${json.order_id}`
      yield* someone.orderThatIs(json.order_id, "completed")
      yield* assertCharged(someone, json.order_id)
    })
  )

  it.effect("takes the order after an outage of two weeks gives the registry its 14 days from then", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const sql = yield* SqlClient.SqlClient
      const someone = yield* customer
      yield* vendor.pending("late-start.com", true)
      yield* vendor.mishaps("holds", "rubbish")
      const { json } = yield* someone.buy("late-start.com")
      yield* sql`UPDATE orders SET tries = ${OrderSteps.mostLooks} WHERE id = ${json.order_id} AND registrations = 0`
      yield* another("register", json.order_id)
      yield* another("holds", json.order_id)
      assert.strictEqual((yield* someone.order(json.order_id)).status, "registering")
      yield* assertCharged(someone, json.order_id)

      yield* vendor.pending("late-start.com", false)
      yield* letDue(json.order_id)
      yield* someone.orderThatIs(json.order_id, "completed")
    })
  )

  it.effect("takes the order without an answer keeps the money while it does not sell the name", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      const before = yield* vendor.asked("register")
      yield* vendor.pending("unheard.com", true)
      yield* vendor.mishaps("register", "hang-up")
      const { json } = yield* someone.buy("unheard.com")
      for (let look = 0; look < 4; look++) yield* another("register", json.order_id)
      yield* another("holds", json.order_id)
      assert.strictEqual((yield* someone.order(json.order_id)).status, "registering")
      assert.strictEqual(yield* vendor.asked("register"), before + 5)
      yield* assertCharged(someone, json.order_id)

      yield* vendor.pending("unheard.com", false)
      yield* letDue(json.order_id)
      yield* someone.orderThatIs(json.order_id, "completed")
      yield* assertCharged(someone, json.order_id)
    })
  )

  it.effect("does nothing and answers nothing gives 202, and the worker looks up and registers once", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      const before = yield* vendor.asked("register")
      const looked = yield* vendor.asked("holds")
      yield* vendor.mishaps("register", "busy")
      const { json, status } = yield* someone.buy("busy.com")
      assert.deepStrictEqual([status, json.status], [202, "registering"])
      assert.isUndefined(yield* vendor.sale("busy.com"))

      yield* letDue(json.order_id)
      yield* someone.orderThatIs(json.order_id, "completed")
      assert.strictEqual(yield* vendor.asked("register"), before + 2)
      assert.isAtLeast(yield* vendor.asked("holds"), looked + 2)
      assert.isDefined(yield* vendor.sale("busy.com"))
      yield* assertCharged(someone, json.order_id)
    })
  )

  it.effect("never registers makes the order fail in the end with a refund", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      const before = yield* vendor.asked("register")
      yield* vendor.mishaps("register", "busy", "rubbish", "too many requests", "busy", "rubbish")
      const { json } = yield* someone.buy("never.com")
      for (let look = 0; look < 4; look++) {
        yield* another("register", json.order_id)
        assert.strictEqual((yield* someone.order(json.order_id)).status, "registering")
        yield* assertCharged(someone, json.order_id)
      }
      yield* letDue(json.order_id)
      const order = yield* someone.orderThatIs(json.order_id, "failed")
      assert.strictEqual(order.failure, "The registrar did not register the name")
      assert.strictEqual(yield* vendor.asked("register"), before + 5)
      yield* assertGivenBack(someone, json.order_id)
    })
  )

  it.effect("cannot be looked up, however often, is asked to register once it can", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      const before = yield* vendor.asked("register")
      yield* vendor.mishaps("holds", ...Array.from({ length: 6 }, () => "rubbish" as const))
      const { json, status } = yield* someone.buy("away.com")
      assert.deepStrictEqual([status, json.status], [202, "registering"])
      for (let look = 0; look < 5; look++) yield* another("holds", json.order_id)
      assert.strictEqual(yield* vendor.asked("register"), before)
      yield* letDue(json.order_id)
      yield* someone.orderThatIs(json.order_id, "completed")
      assert.strictEqual(yield* vendor.asked("register"), before + 1)
      yield* assertCharged(someone, json.order_id)
    })
  )

  it.effect("cannot be looked up keeps the money until it can", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      const before = yield* vendor.asked("register")
      yield* vendor.mishaps("register", "hang-up")
      const { json } = yield* someone.buy("uncertain.com")
      // The look-up fails, which says nothing about the registration.
      yield* vendor.mishaps("holds", { error: 1011150, text: "Invalid request IP: 192.0.2.10" }, "rubbish")
      for (let look = 0; look < 2; look++) {
        yield* another("holds", json.order_id)
        assert.strictEqual((yield* someone.order(json.order_id)).status, "registering")
        yield* assertCharged(someone, json.order_id)
      }
      yield* letDue(json.order_id)
      yield* someone.orderThatIs(json.order_id, "completed")
      assert.strictEqual(yield* vendor.asked("register"), before + 1)
      yield* assertCharged(someone, json.order_id)
    })
  )

  it.effect("refuses the second attempt because the first succeeded late causes no refund", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      yield* vendor.mishaps("register", "hang-up", { error: 2011170, text: "Another request for it is under way" })
      const { json } = yield* someone.buy("late.com")
      // The look-up does not show the registration yet.
      const unseen = { error: 2019166, text: "Domain late.com not found" }
      yield* vendor.mishaps("holds", unseen, unseen)
      yield* another("register", json.order_id)
      assert.strictEqual((yield* someone.order(json.order_id)).status, "registering")
      yield* assertCharged(someone, json.order_id)

      yield* letDue(json.order_id)
      yield* someone.orderThatIs(json.order_id, "completed")
      yield* assertCharged(someone, json.order_id)
    })
  )

  it.effect(
    "cannot publish the records gives 202, and the records are published later without a second registration",
    () =>
      Effect.gen(function* () {
        const vendor = yield* Vendor
        const someone = yield* customer
        const before = yield* vendor.asked("register")
        yield* vendor.mishaps("publish", { error: 2019166, text: "Domain not found" })
        const { json, status } = yield* someone.buy("published-later.com")
        assert.deepStrictEqual([status, json.status], [202, "provisioning"])
        assert.isString(json.domain_id)
        assert.isUndefined(yield* vendor.zone("published-later.com"))

        yield* letDue(json.order_id)
        yield* someone.orderThatIs(json.order_id, "completed")
        assert.lengthOf((yield* vendor.zone("published-later.com")) ?? [], 3)
        assert.strictEqual(yield* vendor.asked("register"), before + 1)
        yield* assertCharged(someone, json.order_id)
      })
  )

  it.effect("cannot publish the records lets the deleted domain be added again only after them, as bought", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const vendor = yield* Vendor
      const { buy, get, key, orderThatIs, post } = yield* customer
      yield* vendor.mishaps("publish", { error: 2019166, text: "Domain not found" })
      const { json: order } = yield* buy("added-again.com")
      assert.strictEqual(order.status, "provisioning")
      yield* inlet.call("DELETE", `/api/domains/${order.domain_id}`, { key })
      const early = yield* post("/api/domains", { domain: "added-again.com" })
      assert.deepStrictEqual(
        [early.status, early.json.error],
        [
          409,
          `An order for added-again.com is in progress. GET /api/domains/orders/${order.order_id} shows it. Once it is completed, add the domain again unless the workspace has it by then`
        ]
      )
      assert.deepStrictEqual((yield* get("/api/domains")).json.domains, [])

      yield* letDue(order.order_id)
      yield* orderThatIs(order.order_id, "completed")
      const { json, status } = yield* post("/api/domains", { domain: "added-again.com" })
      assert.deepStrictEqual([status, json.origin], [201, "purchased"])
      yield* letDue(order.order_id)
      yield* eventually(vendor.zone("added-again.com"), (zone) =>
        (zone ?? []).some((record) => record.value === json.txt_value)
      )
    })
  )

  it.effect("has not registered a name yet keeps its workspace from adding it as its own", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const { buy, get, post } = yield* customer
      yield* vendor.mishaps("register", "busy")
      const { json } = yield* buy("not-registered-yet.com")
      assert.strictEqual(json.status, "registering")
      assert.strictEqual((yield* post("/api/domains", { domain: "not-registered-yet.com" })).status, 409)
      assert.deepStrictEqual((yield* get("/api/domains")).json.domains, [])
      // Any other name is not affected, beyond the one domain of the workspace.
      assert.match(
        (yield* post("/api/domains", { domain: "other.example" })).json.error,
        /^A workspace can have 1 domain/
      )
      const stranger = yield* customer
      assert.strictEqual((yield* stranger.post("/api/domains", { domain: "not-registered-yet.com" })).status, 201)
    })
  )

  it.effect("quotes its own credentials in a refusal is not quoted", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const someone = yield* customer
      yield* vendor.mishaps("register", { error: 1011102, text: `API Key ${Namecheap.apiKey} is invalid` })
      const { status, text } = yield* someone.buy("leaky.com")
      const order = yield* orderOf(someone)
      assert.strictEqual(status, 502)
      assert.include(order.failure, "is invalid")
      for (const said of [text, JSON.stringify(order)]) assert.notInclude(said, Namecheap.apiKey)
    })
  )

  it.effect("dropped a name that a customer removed here sells it to no other workspace", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const sql = yield* SqlClient.SqlClient
      const first = yield* customer
      const second = yield* customer
      const bought = yield* first.buy("deleted.com")
      yield* sql`DELETE FROM domains WHERE id = ${bought.json.domain_id}`
      // An earlier order that is processed now.
      yield* vendor.mishaps("register", "busy")
      const other = yield* second.buy("not-yet.com")
      yield* sql`UPDATE orders SET name = 'deleted.com' WHERE id = ${other.json.order_id}`
      yield* letDue(other.json.order_id)
      const failed = yield* second.orderThatIs(other.json.order_id, "failed")
      assert.strictEqual(failed.failure, "The name was taken meanwhile")
      assert.deepStrictEqual((yield* second.get("/api/domains")).json.domains, [])
      yield* assertGivenBack(second, other.json.order_id)
    })
  )
})

layer(inletWithOpenprovider, { excludeTestServices: true })("A registrar", (it) => {
  it.effect("whose registry never decides about an order makes it fail after 14 days, with one refund", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const sql = yield* SqlClient.SqlClient
      const someone = yield* customer
      yield* vendor.pending("undecided.com", true)
      const { json, status } = yield* someone.buy("undecided.com")
      assert.deepStrictEqual([status, json.status], [202, "registering"])
      yield* sql`UPDATE orders SET tries = ${OrderSteps.mostLooks - 1} WHERE id = ${json.order_id}`
      yield* another("holds", json.order_id)
      assert.strictEqual((yield* someone.order(json.order_id)).status, "registering")
      yield* assertCharged(someone, json.order_id)

      yield* letDue(json.order_id)
      const order = yield* someone.orderThatIs(json.order_id, "failed")
      assert.strictEqual(order.failure, "The registry did not register the name within 14 days")
      assert.strictEqual(yield* vendor.asked("register"), 1)
      yield* assertGivenBack(someone, json.order_id)
    })
  )
})

layer(inletWithNamecheap(), { excludeTestServices: true })("Of two workspaces", (it) => {
  it.effect("the first to order a name gets it, and the other is refused at once", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const [first, second] = [yield* customer, yield* customer]
      yield* vendor.mishaps("register", { delay: 500 })
      const answers = yield* Effect.all([first.buy("contested.com"), second.buy("contested.com")], {
        concurrency: "unbounded"
      })
      const statuses = answers.map(({ status }) => status)
      assert.deepStrictEqual(statuses.toSorted(), [201, 409])
      const [winner, loser] = statuses[0] === 201 ? [first, second] : [second, first]
      assert.strictEqual(
        answers.find(({ status }) => status === 409)?.json.error,
        "Another order for this domain is in progress. Nothing was charged"
      )
      assert.strictEqual(yield* vendor.asked("register"), 1)
      yield* assertCharged(winner, (yield* orderOf(winner)).order_id)
      assert.strictEqual((yield* loser.wallet).balance_cents, 5_000)
      assert.deepStrictEqual((yield* loser.get("/api/domains/orders")).json.orders, [])
    })
  )

  it.effect("the second may order a name once the first registration has failed", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const sql = yield* SqlClient.SqlClient
      const [first, second] = [yield* customer, yield* customer]
      yield* vendor.mishaps("register", "busy")
      const waiting = yield* first.buy("second-chance.com")
      assert.strictEqual(waiting.json.status, "registering")
      assert.strictEqual((yield* second.buy("second-chance.com")).status, 409)
      // That was its last attempt.
      yield* sql`UPDATE orders SET registrations = 5 WHERE id = ${waiting.json.order_id}`
      yield* letDue(waiting.json.order_id)
      yield* first.orderThatIs(waiting.json.order_id, "failed")
      assert.strictEqual((yield* second.buy("second-chance.com")).status, 201)
      yield* assertGivenBack(first, waiting.json.order_id)
      yield* assertCharged(second, (yield* orderOf(second)).order_id)
    })
  )
})
