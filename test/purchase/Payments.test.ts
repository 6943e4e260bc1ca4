import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as BillingStripe from "../../src/providers/billing/BillingStripe.ts"
import { Payments } from "../../src/purchase/Payments.ts"
import { eventually } from "../Eventually.ts"
import { type Delivery, type SentEvent, type StripeEvent, StripeSimulator } from "../simulators/Stripe.ts"
import { Vendor } from "../simulators/Vendor.ts"
import { TestInlet } from "../TestInlet.ts"
import { customer, inletWithStripe, letDue } from "./Shop.ts"

/** The simulator's price of .com, and the markup. */
const price = 1_028 + 299

/** An order before its payment, with the actions of a test. */
const placed = Effect.fnUntraced(function* (domain: string, more: Readonly<Record<string, unknown>> = {}) {
  const inlet = yield* TestInlet
  const stripe = yield* StripeSimulator
  const sql = yield* SqlClient.SqlClient
  const someone = yield* customer
  const { json, status } = yield* someone.buy(domain, more)
  assert.strictEqual(status, 202)
  const [row] = yield* sql<{ readonly checkoutId: string }>`
    SELECT checkout_id FROM orders WHERE id = ${json.order_id}
  `
  const checkoutId = row?.checkoutId ?? ""
  const id = json.order_id as string
  return {
    ...someone,
    orderId: id,
    answer: json,
    checkoutId,
    pay: (how?: Parameters<StripeSimulator["Service"]["pay"]>[1]) => stripe.pay(checkoutId, how),
    call: (event: SentEvent, how?: Delivery) => stripe.send(event, `${inlet.url}/api/webhooks/stripe`, how),
    status: Effect.map(someone.order(id), (order) => order.status as string),
    is: (wanted: string) => someone.orderThatIs(id, wanted)
  }
})

const refundsOf = Effect.fnUntraced(function* ({ data }: StripeEvent) {
  const stripe = yield* StripeSimulator
  return (yield* stripe.refunds).filter((refund) => refund.payment_intent === data.object.payment_intent)
})

/** Checks that nothing was started for an order, by this action or by a worker since. */
const assertUntouched = Effect.fnUntraced(function* (order: Effect.Success<ReturnType<typeof placed>>, domain: string) {
  const vendor = yield* Vendor
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT status, payment_id, refund_due, domain_id FROM orders WHERE id = ${order.orderId}`
  assert.deepStrictEqual(row, { status: "pending_payment", paymentId: null, refundDue: false, domainId: null })
  assert.isUndefined(yield* vendor.sale(domain))
})

/** Processes callbacks on the service's database with other settings, as a worker does every hour. */
const payments = Effect.fnUntraced(function* (secretKey = "sk_test_x") {
  const { webhookSecret } = yield* StripeSimulator
  const billing = BillingStripe.layer({
    secretKey: Redacted.make(secretKey),
    webhookSecret: Redacted.make(webhookSecret)
  })
  return Context.get(yield* Layer.build(Layer.fresh(Payments.layer).pipe(Layer.provide(billing))), Payments)
})

/** Moves the order's time back. */
const age = Effect.fnUntraced(function* (orderId: string, interval: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE orders SET created_at = created_at - ${interval}::interval WHERE id = ${orderId}`
  yield* Effect.flatMap(payments(), ({ expireUnpaid }) => expireUnpaid)
})

layer(inletWithStripe, { excludeTestServices: true })("A purchase paid at Stripe", (it) => {
  it.effect("is answered 202 with the checkout, and registers nothing before the payment", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const stripe = yield* StripeSimulator
      const order = yield* placed("checkout.com", { years: 2 })
      const { created_at, next_steps, order_id, ...rest } = order.answer
      const [session] = (yield* stripe.sessions).filter(({ id }) => id === order.checkoutId)
      assert.deepStrictEqual(rest, {
        domain: "checkout.com",
        years: 2,
        registrar: "namecheap",
        price_cents: 2 * 1_028 + 299,
        currency: "USD",
        status: "pending_payment",
        domain_id: null,
        checkout_url: session?.url,
        failure: null
      })
      assert.isAbove(next_steps.length, 0)
      assert.deepStrictEqual(yield* order.order(order.orderId), order.answer)
      assert.strictEqual(session?.amount_total, 2 * 1_028 + 299)
      assert.strictEqual(session?.client_reference_id, order.orderId)
      const base = `http://localhost:${new URL(inlet.url).port}`
      assert.strictEqual(session?.success_url, `${base}/purchase/success?order=${order.orderId}`)
      assert.strictEqual(session?.cancel_url, `${base}/purchase/cancel?order=${order.orderId}`)
      yield* assertUntouched(order, "checkout.com")
    })
  )

  it.effect("redirects the browser to the configured pages of the customer", () =>
    Effect.gen(function* () {
      const stripe = yield* StripeSimulator
      const pages = { success_url: "https://shop.example/thanks", cancel_url: "https://shop.example/cart" }
      const order = yield* placed("pages.com", pages)
      const [session] = (yield* stripe.sessions).filter(({ id }) => id === order.checkoutId)
      assert.strictEqual(session?.success_url, pages.success_url)
      assert.strictEqual(session?.cancel_url, pages.cancel_url)
    })
  )

  it.effect("has no wallet", () =>
    Effect.gen(function* () {
      const { get } = yield* customer
      const { json, status } = yield* get("/api/domains/wallet")
      assert.deepStrictEqual(
        [status, json],
        [404, { error: "This service has no wallet. Orders are paid through a checkout" }]
      )
    })
  )

  it.effect("reserves neither the name nor a domain of the workspace before the payment", () =>
    Effect.gen(function* () {
      const order = yield* placed("open.com")
      const again = yield* order.buy("open.com")
      assert.strictEqual(again.status, 409)
      assert.strictEqual(
        again.json.error,
        `This domain already has an open order. GET /api/domains/orders/${order.orderId} shows it`
      )
      assert.strictEqual((yield* order.buy("another.com")).status, 202)
      yield* placed("open.com")
      yield* age(order.orderId, "25 hours 1 minute")
      assert.strictEqual((yield* order.buy("open.com")).status, 202)
    })
  )

  it.effect("is refunded if the workspace reached its domain limit meanwhile", () =>
    Effect.gen(function* () {
      const order = yield* placed("no-room.com")
      assert.strictEqual((yield* order.post("/api/domains", { domain: "no-room.example.com" })).status, 201)
      const event = yield* order.pay()
      yield* order.call(event)
      const over = yield* order.is("refunded")
      assert.match(over.failure, /^A workspace can have 1 domain of its own/)
      assert.lengthOf(yield* refundsOf(event), 1)
    })
  )

  it.effect("is refunded if another workspace verified the name meanwhile", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const sql = yield* SqlClient.SqlClient
      const order = yield* placed("verified-meanwhile.com")
      yield* sql`
        INSERT INTO domains (id, name, origin, status, verified_at)
        VALUES (gen_random_uuid(), 'verified-meanwhile.com', 'byo', 'live', now())
      `
      const event = yield* order.pay()
      yield* order.call(event)
      const over = yield* order.is("refunded")
      assert.strictEqual(over.failure, "Another workspace of this service holds the name")
      assert.lengthOf(yield* refundsOf(event), 1)
      assert.isUndefined(yield* vendor.sale("verified-meanwhile.com"))
    })
  )

  it.effect("is registered and completed by the worker once Stripe reports the payment", () =>
    Effect.gen(function* () {
      const stripe = yield* StripeSimulator
      const vendor = yield* Vendor
      const order = yield* placed("paid.com")
      const event = yield* order.pay()
      assert.deepStrictEqual(yield* order.call(event), [200])
      const done = yield* order.is("completed")
      assert.isNull(done.checkout_url)
      assert.strictEqual((yield* order.get(`/api/domains/${done.domain_id}`)).json.domain, "paid.com")
      assert.isDefined(yield* vendor.sale("paid.com"))
      assert.lengthOf((yield* vendor.zone("paid.com")) ?? [], 3)
      const mine = (yield* stripe.payments).filter(({ metadata }) => metadata.order_id === order.orderId)
      assert.deepStrictEqual(
        mine.map(({ amount, refunded }) => [amount, refunded]),
        [[price, 0]]
      )
    })
  )

  it.effect("is answered 502 if no checkout can be opened, without a pending order", () =>
    Effect.gen(function* () {
      const stripe = yield* StripeSimulator
      const someone = yield* customer
      yield* stripe.failNext(3)
      const { json, status } = yield* someone.buy("no-checkout.com")
      assert.strictEqual(status, 502)
      assert.strictEqual(json.error, "The payment provider does not answer. Nothing was charged. Retry in a minute")
      assert.strictEqual((yield* someone.buy("no-checkout.com")).status, 202)
    })
  )
})

layer(inletWithStripe, { excludeTestServices: true })("A callback", (it) => {
  const unsigned: Readonly<Record<string, Delivery>> = {
    "signed with another secret": { secret: "whsec_somebody_else" },
    "older than 300 seconds": { age: 302 },
    "more than 300 seconds from the future": { age: -310 }
  }
  for (const [what, how] of Object.entries(unsigned)) {
    it.effect(`that is ${what} is rejected and changes nothing`, () =>
      Effect.gen(function* () {
        const order = yield* placed("unsigned.com")
        const event = yield* order.pay()
        assert.deepStrictEqual(yield* order.call(event, how), [400])
        yield* assertUntouched(order, "unsigned.com")
      })
    )
  }

  it.effect("without a valid signature of its body is rejected", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const order = yield* placed("changed.com")
      const event = yield* order.pay()
      const bare = yield* inlet.call("POST", "/api/webhooks/stripe", { body: event })
      assert.strictEqual(bare.status, 400)
      assert.deepStrictEqual(Object.keys(bare.json), ["error"])
      const forged = yield* inlet.call("POST", "/api/webhooks/stripe", {
        body: event,
        headers: { "stripe-signature": `t=${event.created},v1=${"0".repeat(64)}` }
      })
      assert.strictEqual(forged.status, 400)
      yield* assertUntouched(order, "changed.com")
    })
  )

  it.effect("that arrives twenty times concurrently and once later is answered 200 and processed once", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const before = yield* vendor.asked("register")
      const order = yield* placed("replayed.com")
      const event = yield* order.pay()
      const all200 = Array.from({ length: 20 }, () => 200)
      assert.deepStrictEqual(yield* order.call(event, { times: 20, atOnce: true }), all200)
      yield* order.is("completed")
      assert.deepStrictEqual(yield* order.call(event, { times: 20, atOnce: true }), all200)
      assert.strictEqual(yield* order.status, "completed")
      assert.strictEqual(yield* vendor.asked("register"), before + 1)
      assert.deepStrictEqual(yield* refundsOf(event), [])
    })
  )

  it.effect("that cannot be processed is answered 500, and is processed when Stripe repeats it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const order = yield* placed("unlucky.com")
      const event = yield* order.pay()
      yield* sql`
        CREATE FUNCTION unlucky() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'unlucky'; END $$
      `
      yield* sql`
        CREATE TRIGGER unlucky BEFORE UPDATE ON orders FOR EACH ROW WHEN (OLD.name = 'unlucky.com')
        EXECUTE FUNCTION unlucky()
      `
      assert.deepStrictEqual(yield* order.call(event), [500])
      yield* sql`DROP TRIGGER unlucky ON orders`
      yield* assertUntouched(order, "unlucky.com")
      assert.deepStrictEqual(yield* order.call(event), [200])
      yield* order.is("completed")
    })
  )

  it.effect("for the same payment under another id changes nothing", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const order = yield* placed("told-again.com")
      const event = yield* order.pay()
      yield* order.call(event)
      yield* order.is("completed")
      const registered = yield* vendor.asked("register")
      const again = { ...event, id: "evt_again", type: "checkout.session.async_payment_succeeded" }
      assert.deepStrictEqual(yield* order.call(again), [200])
      assert.strictEqual(yield* order.status, "completed")
      assert.strictEqual(yield* vendor.asked("register"), registered)
    })
  )

  it.effect("for an expiry after the payment changes nothing, in any order of sending", () =>
    Effect.gen(function* () {
      const order = yield* placed("out-of-order.com")
      const paid = yield* order.pay()
      const expired = { ...paid, id: "evt_expired_late", type: "checkout.session.expired" }
      // In this order, a payment for an ended order is accepted.
      assert.deepStrictEqual(yield* order.call(expired), [200])
      assert.strictEqual(yield* order.status, "expired")
      assert.deepStrictEqual(yield* order.call(paid), [200])
      yield* order.is("completed")
      assert.deepStrictEqual(yield* order.call({ ...expired, id: "evt_expired_later" }), [200])
      assert.strictEqual(yield* order.status, "completed")
    })
  )

  it.effect("for a completed but unpaid checkout registers nothing", () =>
    Effect.gen(function* () {
      const stripe = yield* StripeSimulator
      const order = yield* placed("later.com")
      assert.deepStrictEqual(yield* order.call(yield* order.pay({ later: true })), [200])
      yield* assertUntouched(order, "later.com")
      assert.deepStrictEqual(yield* order.call(yield* stripe.settle(order.checkoutId)), [200])
      yield* order.is("completed")
    })
  )

  it.effect("for a failed payment ends the order", () =>
    Effect.gen(function* () {
      const stripe = yield* StripeSimulator
      const vendor = yield* Vendor
      const order = yield* placed("bounced.com")
      yield* order.call(yield* order.pay({ later: true }))
      yield* order.call(yield* stripe.bounce(order.checkoutId))
      assert.strictEqual(yield* order.status, "expired")
      assert.isUndefined(yield* vendor.sale("bounced.com"))
    })
  )

  it.effect("of an irrelevant type is answered 200", () =>
    Effect.gen(function* () {
      const order = yield* placed("other-news.com")
      const event = yield* order.pay()
      for (const type of ["customer.created", "checkout.session.invented", "charge.refunded"]) {
        assert.deepStrictEqual(yield* order.call({ ...event, id: `evt_${type}`, type }), [200])
      }
      yield* assertUntouched(order, "other-news.com")
    })
  )

  it.effect("for an unknown order is answered 200 and registers nothing", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const order = yield* placed("unknown.com")
      const event = yield* order.pay()
      const registered = yield* vendor.asked("register")
      const { object } = event.data
      // The claimed order is not enough, because the checkout was not opened by this service.
      const foreign = { ...event, id: "evt_foreign", data: { object: { ...object, id: "cs_test_foreign" } } }
      assert.deepStrictEqual(yield* order.call(foreign), [200])
      yield* assertUntouched(order, "unknown.com")
      assert.strictEqual(yield* vendor.asked("register"), registered)
    })
  )

  it.effect("of live mode is ignored with a test key, and of test mode with a live key", () =>
    Effect.gen(function* () {
      const order = yield* placed("mode.com")
      const event = yield* order.pay()
      assert.deepStrictEqual(yield* order.call({ ...event, livemode: true }), [200])
      yield* assertUntouched(order, "mode.com")

      const callback = yield* StripeSimulator.use(({ signed }) => signed({ ...event, id: "evt_of_test_mode" }))
      for (const key of ["sk_live_x", "rk_live_x"]) {
        const live = yield* payments(key)
        yield* live.hear(callback)
        yield* assertUntouched(order, "mode.com")
      }
      // A callback in the wrong mode has no effect.
      const test = yield* payments("sk_test_x")
      yield* test.hear(callback)
      yield* order.is("completed")
    })
  )
})

layer(inletWithStripe, { excludeTestServices: true })("A Stripe payment", (it) => {
  it.effect("is refunded once if the registration fails for good", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const order = yield* placed("refused.com")
      yield* vendor.mishaps("register", { error: 2030280, text: "TLD is not supported in API" })
      const event = yield* order.pay()
      yield* order.call(event)
      const over = yield* order.is("refunded")
      assert.strictEqual(over.failure, "The registrar refused: TLD is not supported in API (2030280)")
      assert.isNull(over.domain_id)
      const refunds = yield* refundsOf(event)
      assert.deepStrictEqual(
        refunds.map(({ amount, metadata, status }) => [amount, metadata.order_id, status]),
        [[price, order.orderId, "succeeded"]]
      )
      // A repeated callback is not refunded again.
      yield* order.call({ ...event, id: "evt_after_refund" })
      assert.strictEqual(yield* order.status, "refunded")
      assert.lengthOf(yield* refundsOf(event), 1)
    })
  )

  it.effect("is possible for twenty unpaid orders of a workspace at most", () =>
    Effect.gen(function* () {
      const { buy } = yield* customer
      const answers = yield* Effect.forEach(Array.from({ length: 20 }), (_, index) => buy(`unpaid-${index}.com`))
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [202])
      const { json, status } = yield* buy("unpaid-20.com")
      assert.strictEqual(status, 409)
      assert.match(json.error, /^This workspace has 20 unpaid orders\. Pay one, or wait /)
    })
  )

  it.effect("whose refund a bank rejects days later is a failed order that says so", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const vendor = yield* Vendor
      const order = yield* placed("rejected.com")
      yield* vendor.mishaps("register", { error: 2030280, text: "TLD is not supported in API" })
      const event = yield* order.pay()
      yield* order.call(event)
      yield* order.is("refunded")
      const [refund] = yield* refundsOf(event)
      assert.isDefined(refund)
      const rejected = (id: string, status: typeof refund.status) => ({
        ...event,
        id,
        type: "refund.updated",
        data: { object: { ...refund, status } }
      })
      yield* order.call(rejected("evt_refund_pending", "pending"))
      assert.strictEqual(yield* order.status, "refunded")
      yield* order.call(rejected("evt_refund_failed", "failed"), { times: 2 })
      const over = yield* order.is("failed")
      assert.include(over.next_steps[0], "The bank rejected the refund")
      const page = yield* inlet.call("GET", `/purchase/success?order=${order.orderId}`)
      assert.include(page.text, "Your bank rejected the refund")
      assert.lengthOf(yield* refundsOf(event), 1)
    })
  )

  it.effect("is refunded once as soon as Stripe allows it, after any number of failures", () =>
    Effect.gen(function* () {
      const stripe = yield* StripeSimulator
      const vendor = yield* Vendor
      const order = yield* placed("refund-later.com")
      yield* vendor.mishaps("register", { error: 2030280, text: "TLD is not supported in API" })
      const event = yield* order.pay()
      // A refund is up to three requests: two fail, and the answer to the third is lost.
      yield* stripe.failNext(6)
      yield* order.call(event)
      const waiting = yield* order.is("failed")
      assert.include(waiting.next_steps.join(" "), "is being given back")
      const tries = Effect.map(
        stripe.calls,
        (calls) => calls.filter(({ idempotencyKey }) => idempotencyKey === `refund-${order.orderId}`).length
      )
      yield* eventually(tries, (count) => count === 3)
      yield* eventually(Effect.andThen(letDue(order.orderId), tries), (count) => count === 6)
      assert.deepStrictEqual(yield* refundsOf(event), [])
      yield* stripe.loseAnswers(1)
      yield* eventually(Effect.andThen(letDue(order.orderId), order.status), (status) => status === "refunded")
      assert.lengthOf(yield* refundsOf(event), 1)
    })
  )

  const wrong = {
    "less than the price": [{ amount_total: price - 1 }, "$13.26 was paid, and the order costs $13.27"],
    "more than the price": [{ amount_total: price + 1 }, "$13.28 was paid, and the order costs $13.27"],
    "the price in another currency": [{ currency: "eur" }, "A sum in EUR was paid, and the order costs $13.27"]
  } as const
  for (const [index, [what, [difference, failure]]] of Object.entries(wrong).entries()) {
    it.effect(`that is ${what} is refunded once on repeated callbacks, and buys nothing`, () =>
      Effect.gen(function* () {
        const vendor = yield* Vendor
        const order = yield* placed(`mispaid-${index}.com`)
        const event = yield* order.pay()
        const mispaid = { ...event, data: { object: { ...event.data.object, ...difference } } }
        yield* order.call(mispaid, { times: 10, atOnce: true })
        const over = yield* order.is("refunded")
        assert.strictEqual(over.failure, failure)
        assert.lengthOf(yield* refundsOf(event), 1)

        // Later callbacks of this payment are too late, even correct ones.
        for (const later of [mispaid, event]) yield* order.call({ ...later, id: `evt_${index}_${later === event}` })
        assert.strictEqual(yield* order.status, "refunded")
        assert.lengthOf(yield* refundsOf(event), 1)
        assert.isUndefined(yield* vendor.sale(`mispaid-${index}.com`))
        assert.strictEqual((yield* order.buy(`mispaid-${index}.com`)).status, 202)
      })
    )
  }

  it.effect("of zero ends the order without a refund", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const order = yield* placed("for-nothing.com")
      const event = yield* order.pay()
      const object = { ...event.data.object, amount_total: 0, payment_intent: null }
      yield* order.call({ ...event, data: { object } })
      const over = yield* order.order(order.orderId)
      assert.deepStrictEqual([over.status, over.failure], ["failed", "$0.00 was paid, and the order costs $13.27"])
      const [row] = yield* sql`SELECT refund_due FROM orders WHERE id = ${order.orderId}`
      assert.deepStrictEqual(row, { refundDue: false })
    })
  )

  it.effect("of an unexpected amount or for an unknown order is logged at level ERROR", () =>
    Effect.gen(function* () {
      const order = yield* placed("alarm.com")
      const event = yield* order.pay()
      const lines: Array<readonly [level: string, message: unknown]> = []
      const alarms = Logger.layer([
        Logger.make(({ logLevel, message }) => void lines.push([logLevel, [message].flat()[0]]))
      ])
      const { hear } = yield* payments()
      const { signed } = yield* StripeSimulator
      /** Stripe's event with another id and these changes. */
      const tell = Effect.fnUntraced(function* (id: string, changed: Partial<StripeEvent["data"]["object"]>) {
        const object = { ...event.data.object, amount_total: 1, ...changed }
        yield* hear(yield* signed({ ...event, id, data: { object } })).pipe(Effect.provide(alarms))
      })
      yield* tell("evt_alarm", {})
      yield* tell("evt_alarm_again", {})
      yield* tell("evt_alarm_second", { payment_intent: "pi_second" })
      yield* tell("evt_alarm_foreign", { id: "cs_foreign" })
      assert.deepStrictEqual(lines, [
        ["Error", "A payment buys nothing and is refunded: $0.01 was paid, and the order costs $13.27"],
        ["Error", "An order was paid twice. Refund the second payment at Stripe"],
        ["Error", "A payment belongs to no order of this service"]
      ])
      yield* order.is("refunded")
      assert.lengthOf(yield* refundsOf(event), 1)
    })
  )

  it.effect("is refunded to the later of two workspaces for one name", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const sql = yield* SqlClient.SqlClient
      const registered = yield* vendor.asked("register")
      const [first, second] = [yield* placed("contested.com"), yield* placed("contested.com")]
      const [one, two] = [yield* first.pay(), yield* second.pay()]
      yield* Effect.all([first.call(one), second.call(two)], { concurrency: "unbounded" })
      yield* eventually(
        Effect.andThen(
          sql`UPDATE orders SET due_at = now() WHERE name = 'contested.com' AND status = 'paid'`,
          Effect.all([first.status, second.status])
        ),
        (statuses) => statuses.toSorted().join() === "completed,refunded"
      )
      const [lost, kept] = (yield* first.status) === "refunded" ? [one, two] : [two, one]
      assert.lengthOf(yield* refundsOf(lost), 1)
      assert.deepStrictEqual(yield* refundsOf(kept), [])
      assert.strictEqual(yield* vendor.asked("register"), registered + 1)
    })
  )

  it.effect("for an abandoned checkout buys the name, even after the 25 h of the order", () =>
    Effect.gen(function* () {
      const order = yield* placed("abandoned.com")
      yield* age(order.orderId, "24 hours 59 minutes")
      assert.strictEqual(yield* order.status, "pending_payment")
      yield* age(order.orderId, "2 minutes")
      const over = yield* order.order(order.orderId)
      assert.deepStrictEqual([over.status, over.checkout_url], ["expired", null])
      const event = yield* order.pay()
      yield* order.call(event)
      yield* order.is("completed")
      assert.deepStrictEqual(yield* refundsOf(event), [])
    })
  )

  it.effect("for an order that was placed anew is refunded", () =>
    Effect.gen(function* () {
      const vendor = yield* Vendor
      const order = yield* placed("anew.com")
      yield* age(order.orderId, "26 hours")
      const anew = yield* order.buy("anew.com")
      assert.strictEqual(anew.status, 202)
      const event = yield* order.pay()
      yield* order.call(event)
      const over = yield* order.is("refunded")
      assert.strictEqual(over.failure, "This checkout was paid after another order for the name was placed")
      assert.lengthOf(yield* refundsOf(event), 1)
      assert.isUndefined(yield* vendor.sale("anew.com"))
      assert.strictEqual((yield* order.order(anew.json.order_id)).status, "pending_payment")
    })
  )

  it.effect("for a name sold meanwhile is refunded, even if its owner removed the domain here", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const [first, second] = [yield* placed("sold.com"), yield* placed("sold.com")]
      yield* first.call(yield* first.pay())
      const { domain_id } = yield* first.is("completed")
      yield* inlet.call("DELETE", `/api/domains/${domain_id}`, { key: first.key })
      const event = yield* second.pay()
      yield* second.call(event)
      const over = yield* second.is("refunded")
      assert.strictEqual(over.failure, "The name was taken meanwhile")
      assert.lengthOf(yield* refundsOf(event), 1)
      assert.deepStrictEqual((yield* second.get("/api/domains")).json.domains, [])
    })
  )

  it.effect("is not possible for a checkout without an answer, whose order expires after 5 minutes", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const order = yield* placed("crashed.com")
      yield* sql`UPDATE orders SET checkout_id = NULL, checkout_url = NULL WHERE id = ${order.orderId}`
      yield* age(order.orderId, "4 minutes")
      assert.strictEqual(yield* order.status, "pending_payment")
      yield* age(order.orderId, "2 minutes")
      assert.strictEqual(yield* order.status, "expired")
      assert.strictEqual((yield* order.buy("crashed.com")).status, 202)
    })
  )
})
