import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { DomainName } from "../../../src/model/Domain.ts"
import { OrderId } from "../../../src/model/Order.ts"
import { WorkspaceId } from "../../../src/model/Workspace.ts"
import { Billing } from "../../../src/providers/billing/Billing.ts"
import * as BillingStripe from "../../../src/providers/billing/BillingStripe.ts"
import * as Ports from "../../Ports.ts"
import { StripeSimulator } from "../../simulators/Stripe.ts"

/** The simulator's account, with options. */
const stripe = (changed: Partial<BillingStripe.Options> = {}) =>
  Layer.unwrap(
    Effect.map(StripeSimulator, ({ secretKey, url, webhookSecret }) =>
      BillingStripe.layer({
        secretKey: Redacted.make(secretKey),
        webhookSecret: Redacted.make(webhookSecret),
        apiUrl: url,
        ...changed
      })
    )
  )

let orders = 0

/** The bill of a new order. */
const bill = () => ({
  orderId: OrderId.make(`01980000-0000-7000-8000-${`${++orders}`.padStart(12, "0")}`),
  workspaceId: WorkspaceId.make("01980000-0000-7000-8000-ffffffffffff"),
  domain: DomainName.make("example.com"),
  years: 2,
  priceCents: 2_895,
  successUrl: "https://shop.example/purchase/success",
  cancelUrl: "https://shop.example/purchase/cancel"
})

/** The bill of an order paid at its checkout. */
const paidBill = Effect.gen(function* () {
  const billing = yield* Billing
  const simulator = yield* StripeSimulator
  const order = bill()
  const checkout = yield* billing.checkout(order)
  const event = yield* simulator.pay(checkout.id)
  return { ...order, paymentId: event.data.object.payment_intent }
})

const calls = Effect.fnUntraced(function* (idempotencyKey: string) {
  const simulator = yield* StripeSimulator
  return (yield* simulator.calls).filter((call) => call.idempotencyKey === idempotencyKey)
})

const sessionsOf = Effect.fnUntraced(function* (orderId: string) {
  const simulator = yield* StripeSimulator
  return (yield* simulator.sessions).filter((session) => session.client_reference_id === orderId)
})

const refundsOf = Effect.fnUntraced(function* (paymentId: string | null) {
  const simulator = yield* StripeSimulator
  return (yield* simulator.refunds).filter((refund) => refund.payment_intent === paymentId)
})

layer(stripe().pipe(Layer.provideMerge(StripeSimulator.layer)), { excludeTestServices: true })(
  "Billing through Stripe",
  (it) => {
    it.effect("debits nothing at once and returns a checkout", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        assert.strictEqual(billing.provider, "stripe")
        assert.isFalse(yield* billing.charge(bill()))
      })
    )

    it.effect("opens a checkout for one item at the price of the order, with the order id", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const order = bill()
        const checkout = yield* billing.checkout(order)

        const [call, ...more] = yield* calls(`checkout-${order.orderId}`)
        assert.deepStrictEqual(more, [])
        assert.deepStrictEqual(call?.params, {
          mode: "payment",
          "line_items[0][quantity]": "1",
          "line_items[0][price_data][currency]": "usd",
          "line_items[0][price_data][unit_amount]": "2895",
          "line_items[0][price_data][product_data][name]": "example.com, 2 years",
          "adaptive_pricing[enabled]": "false",
          client_reference_id: order.orderId,
          "metadata[order_id]": order.orderId,
          "payment_intent_data[metadata][order_id]": order.orderId,
          success_url: "https://shop.example/purchase/success",
          cancel_url: "https://shop.example/purchase/cancel"
        })
        const [session] = yield* sessionsOf(order.orderId)
        assert.deepStrictEqual(checkout, { id: session?.id ?? "", url: session?.url ?? "" })
        assert.strictEqual(session?.amount_total, 2_895)
      })
    )

    it.effect("names a term of one year in the singular", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const order = { ...bill(), years: 1 }
        yield* billing.checkout(order)
        const [call] = yield* calls(`checkout-${order.orderId}`)
        assert.strictEqual(call?.params["line_items[0][price_data][product_data][name]"], "example.com, 1 year")
      })
    )

    it.effect("returns the same checkout for the same order, in sequence and concurrently", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const simulator = yield* StripeSimulator
        const order = bill()
        const first = yield* billing.checkout(order)
        assert.deepStrictEqual(yield* billing.checkout(order), first)

        const another = bill()
        // Long enough for both requests to arrive, also on a busy machine.
        yield* simulator.slow("1 second")
        const [one, two] = yield* Effect.all([billing.checkout(another), billing.checkout(another)], {
          concurrency: "unbounded"
        }).pipe(Effect.ensuring(simulator.slow(0)))
        assert.deepStrictEqual(one, two)
        assert.notDeepEqual(one, first)
        // Stripe rejected the second request during the first, and its retries until the end of the first.
        const statuses = (yield* calls(`checkout-${another.orderId}`)).map(({ status }) => status)
        assert.lengthOf(
          statuses.filter((status) => status === 200),
          2
        )
        assert.deepStrictEqual(new Set(statuses), new Set([200, 409]))
        assert.lengthOf(yield* sessionsOf(another.orderId), 1)
      })
    )

    it.effect("keeps the price of an order once its checkout is open", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const order = bill()
        yield* billing.checkout(order)
        const error = yield* Effect.flip(billing.checkout({ ...order, priceCents: 1_000 }))
        assert.strictEqual(error._tag, "BillingError")
        assert.include(error.message, "can only be used with the same parameters")
        assert.deepStrictEqual(
          (yield* sessionsOf(order.orderId)).map((session) => session.amount_total),
          [2_895]
        )
      })
    )

    it.effect("retries with the same idempotency key when Stripe fails", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const simulator = yield* StripeSimulator
        const order = bill()
        yield* simulator.failNext(2)
        yield* billing.checkout(order)
        assert.deepStrictEqual(
          (yield* calls(`checkout-${order.orderId}`)).map(({ status }) => status),
          [500, 500, 200]
        )
      })
    )

    it.effect("gives up after three failures with an error", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const simulator = yield* StripeSimulator
        const order = bill()
        yield* simulator.failNext(3)
        const error = yield* Effect.flip(billing.checkout(order))
        assert.strictEqual(error._tag, "BillingError")
        assert.match(error.message, /^Stripe failed to answer \(Stripe request req_\w+\)$/)
        assert.lengthOf(yield* calls(`checkout-${order.orderId}`), 3)
        assert.lengthOf(yield* sessionsOf(order.orderId), 0)
      })
    )

    it.effect("finds the checkout of a lost answer", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const simulator = yield* StripeSimulator
        const order = bill()
        yield* simulator.loseAnswers(2)
        const checkout = yield* billing.checkout(order)
        assert.deepStrictEqual(
          (yield* sessionsOf(order.orderId)).map(({ id }) => id),
          [checkout.id]
        )
      })
    )

    it.effect("respects its timeout", () =>
      Effect.gen(function* () {
        const simulator = yield* StripeSimulator
        const order = bill()
        yield* simulator.slow("60 seconds")
        const error = yield* Billing.use((billing) => Effect.flip(billing.checkout(order))).pipe(
          Effect.provide(stripe({ timeout: "50 millis" })),
          Effect.timeout("30 seconds"),
          Effect.ensuring(simulator.slow(0))
        )
        assert.strictEqual(error._tag, "BillingError")
        assert.match(error.message, /did not answer in time|still busy with an earlier request/)
        assert.lengthOf(yield* sessionsOf(order.orderId), 0)
      })
    )

    it.effect("reports an unreachable Stripe", () =>
      Effect.gen(function* () {
        const port = yield* Ports.free
        const error = yield* Billing.use((billing) => Effect.flip(billing.checkout(bill()))).pipe(
          Effect.provide(stripe({ apiUrl: `http://127.0.0.1:${port}` }))
        )
        assert.strictEqual(error.message, "Stripe can't be reached, or did not answer in time")
      })
    )

    it.effect("rejects the page of a proxy as an answer", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const simulator = yield* StripeSimulator
        yield* simulator.answerRubbish(1)
        const error = yield* Effect.flip(billing.checkout(bill()))
        assert.strictEqual(error._tag, "BillingError")
        assert.match(error.message, /^Stripe failed to answer/)
      })
    )

    it.effect("returns the reason of Stripe for a refused order", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const cheap = yield* Effect.flip(billing.checkout({ ...bill(), priceCents: 49 }))
        assert.match(cheap.message, /^Stripe refused: .*at least \$0\.50/)
        const lost = yield* Effect.flip(billing.checkout({ ...bill(), successUrl: "nowhere" }))
        assert.match(lost.message, /^Stripe refused: Not a valid URL/)
      })
    )

    it.effect("reveals no key, even if Stripe quotes it", () =>
      Effect.gen(function* () {
        const secretKey = "sk_live_0123456789abcdefghijklmnopqrstuvwxyz"
        const error = yield* Billing.use((billing) => Effect.flip(billing.checkout(bill()))).pipe(
          Effect.provide(stripe({ secretKey: Redacted.make(secretKey) }))
        )
        assert.strictEqual(error._tag, "BillingError")
        assert.match(error.message, /^Stripe does not accept the secret key of this service/)
        assert.notMatch(JSON.stringify(error) + String(error.stack) + String(error.cause), /sk_live|wxyz/)
      })
    )

    it.effect("refunds the full price once for any number of requests", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const simulator = yield* StripeSimulator
        const order = yield* paidBill
        yield* billing.refund(order)
        yield* billing.refund(order)
        yield* simulator.forgetKeys
        yield* billing.refund(order)

        assert.deepStrictEqual(
          (yield* refundsOf(order.paymentId)).map(({ amount, metadata }) => ({ amount, metadata })),
          [{ amount: 2_895, metadata: { order_id: order.orderId } }]
        )
        const keys = new Set((yield* calls(`refund-${order.orderId}`)).map(({ path }) => path))
        assert.deepStrictEqual([...keys], ["/v1/refunds"])
      })
    )

    it.effect("refunds once if the answer is lost", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const simulator = yield* StripeSimulator
        const order = yield* paidBill
        yield* simulator.loseAnswers(1)
        yield* billing.refund(order)
        assert.lengthOf(yield* refundsOf(order.paymentId), 1)
      })
    )

    it.effect("accepts a refund made by hand", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const simulator = yield* StripeSimulator
        const order = yield* paidBill
        yield* simulator.refundByHand(order.paymentId ?? "")
        yield* billing.refund(order)
        assert.lengthOf(yield* refundsOf(order.paymentId), 0)
      })
    )

    it.effect("fails while refunds fail at Stripe, and refunds a day later", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const simulator = yield* StripeSimulator
        const order = yield* paidBill
        yield* simulator.breakNext(1)
        assert.match((yield* Effect.flip(billing.refund(order))).message, /^Stripe failed to answer/)
        assert.match((yield* Effect.flip(billing.refund(order))).message, /^Stripe failed to answer/)
        assert.lengthOf(yield* refundsOf(order.paymentId), 0)

        yield* simulator.forgetKeys
        yield* billing.refund(order)
        assert.lengthOf(yield* refundsOf(order.paymentId), 1)
      })
    )

    it.effect("does not treat a refund that failed at the bank as done", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const simulator = yield* StripeSimulator
        const order = yield* paidBill
        yield* simulator.refundsBecome("failed")
        const error = yield* Effect.flip(billing.refund(order)).pipe(
          Effect.ensuring(simulator.refundsBecome("succeeded"))
        )
        assert.strictEqual(error.message, "Stripe did not refund: the refund is failed")
      })
    )

    it.effect("cannot refund an unknown or unpaid order", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const simulator = yield* StripeSimulator
        const unknown = yield* Effect.flip(billing.refund({ ...bill(), paymentId: "pi_unknown" }))
        assert.match(unknown.message, /^Stripe refused: No such payment_intent: 'pi_unknown'/)

        const order = bill()
        const { id } = yield* billing.checkout(order)
        const { payment_intent: paymentId } = (yield* simulator.pay(id, { later: true })).data.object
        const unpaid = yield* Effect.flip(billing.refund({ ...order, paymentId }))
        assert.match(unpaid.message, /does not have a successful charge to refund/)
      })
    )

    it.effect("reports an order without a payment without calling Stripe", () =>
      Effect.gen(function* () {
        const billing = yield* Billing
        const order = bill()
        const error = yield* Effect.flip(billing.refund({ ...order, paymentId: null }))
        assert.strictEqual(error._tag, "BillingError")
        assert.strictEqual(error.message, "The order has no Stripe payment id, so Inlet cannot refund it")
        assert.lengthOf(yield* calls(`refund-${order.orderId}`), 0)
      })
    )
  }
)
