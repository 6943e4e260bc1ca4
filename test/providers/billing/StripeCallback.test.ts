import { createHmac } from "node:crypto"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import Stripe from "stripe"
import { DomainName } from "../../../src/model/Domain.ts"
import { OrderId } from "../../../src/model/Order.ts"
import { WorkspaceId } from "../../../src/model/Workspace.ts"
import { Billing } from "../../../src/providers/billing/Billing.ts"
import * as BillingStripe from "../../../src/providers/billing/BillingStripe.ts"
import { type StripeNews, verify } from "../../../src/providers/billing/StripeCallback.ts"
import { StripeSimulator } from "../../simulators/Stripe.ts"
import { WebhookReceiver } from "../../WebhookReceiver.ts"

const secret = "whsec_of_the_endpoint"
const otherSecret = "whsec_of_somebody_else"
const orderId = "01980000-0000-7000-8000-000000000001"

/** 2026-01-01T00:00:00Z, the time of the signatures below. */
const signedAt = 1_767_225_600

const session = {
  id: "cs_test_1",
  object: "checkout.session",
  amount_total: 2_895,
  client_reference_id: orderId,
  currency: "usd",
  metadata: { order_id: orderId },
  payment_intent: "pi_1",
  payment_status: "paid"
}

const event = (type: string, object: unknown = session, changed: object = {}) =>
  JSON.stringify({ id: "evt_1", object: "event", livemode: true, type, data: { object }, ...changed }, null, 2)

const completed = event("checkout.session.completed")

const header = (payload = completed, key = secret, timestamp = signedAt) =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret: key, timestamp })

const signature = (payload: string | Uint8Array, key = secret) =>
  createHmac("sha256", key).update(`${signedAt}.`).update(payload).digest("hex")

/** The result for a callback received at the time of its signature. */
const hear = (payload: string | Uint8Array, signed: string | undefined) =>
  Effect.andThen(
    TestClock.setTime(signedAt * 1_000),
    verify({ rawBody: Buffer.from(payload), signature: signed, secret: Redacted.make(secret) })
  )

const refusal = (payload: string | Uint8Array, signed: string | undefined) =>
  Effect.map(Effect.flip(hear(payload, signed)), (error) => {
    assert.strictEqual(error._tag, "Invalid")
    return error.message
  })

const notSigned = "Stripe-Signature: expected a signature of this body, as sent, with the endpoint's secret"
const notTimely = "Stripe-Signature: expected a time of signing within 300 seconds of this clock"
const notAHeader = "Stripe-Signature: expected a header of the form t=<seconds>,v1=<signature>"

describe("A Stripe callback", () => {
  it.effect("contains the order, checkout, payment and amount", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* hear(completed, header()), {
        eventId: "evt_1",
        livemode: true,
        kind: "paid",
        checkoutId: "cs_test_1",
        paymentId: "pi_1",
        amountCents: 2_895,
        currency: "usd"
      })
    })
  )

  it.effect("is paid, expired, failed or other by its type and the payment status", () =>
    Effect.gen(function* () {
      const unpaid = { ...session, payment_status: "unpaid" }
      const kinds: ReadonlyArray<readonly [StripeNews["kind"], string, object]> = [
        ["paid", "checkout.session.completed", session],
        ["paid", "checkout.session.completed", { ...session, payment_status: "no_payment_required" }],
        ["other", "checkout.session.completed", unpaid],
        ["other", "checkout.session.completed", { ...session, payment_status: "of a later version" }],
        ["paid", "checkout.session.async_payment_succeeded", session],
        ["failed", "checkout.session.async_payment_failed", unpaid],
        ["expired", "checkout.session.expired", unpaid],
        ["other", "checkout.session.of_a_later_version", session]
      ]
      for (const [kind, type, object] of kinds) {
        const payload = event(type, object)
        assert.strictEqual((yield* hear(payload, header(payload))).kind, kind, payload)
      }
    })
  )

  it.effect("of any other type changes no order", () =>
    Effect.gen(function* () {
      for (const payload of [
        event("charge.refunded", { id: "ch_1", client_reference_id: orderId }),
        event("payment_intent.succeeded", { id: "pi_1", metadata: { order_id: orderId } }),
        event("of.a.later.version", null)
      ]) {
        assert.deepStrictEqual(yield* hear(payload, header(payload)), {
          eventId: "evt_1",
          livemode: true,
          kind: "other",
          checkoutId: null,
          paymentId: null,
          amountCents: null,
          currency: null
        })
      }
    })
  )

  it.effect("of a connected account changes no order", () =>
    Effect.gen(function* () {
      const payload = event("checkout.session.completed", session, { account: "acct_1" })
      const news = yield* hear(payload, header(payload))
      assert.strictEqual(news.kind, "other")
    })
  )

  it.effect("about a refund says whether a bank rejected it", () =>
    Effect.gen(function* () {
      const kindOf = (type: string, status: string | null, payment: unknown = "pi_1") => {
        const payload = event(type, { id: "re_1", object: "refund", status, payment_intent: payment })
        return Effect.map(hear(payload, header(payload)), ({ kind, paymentId }) => [kind, paymentId])
      }
      for (const type of ["refund.failed", "refund.updated", "charge.refund.updated"]) {
        assert.deepStrictEqual(yield* kindOf(type, "failed"), ["refund_failed", "pi_1"])
      }
      assert.deepStrictEqual(yield* kindOf("refund.updated", "canceled", { id: "pi_2" }), ["refund_failed", "pi_2"])
      for (const status of ["succeeded", "pending", "requires_action", null]) {
        assert.deepStrictEqual(yield* kindOf("refund.updated", status), ["other", null])
      }
      assert.deepStrictEqual(yield* kindOf("refund.failed", "failed", null), ["other", null])
    })
  )

  it.effect("may omit unknown fields and may contain the expanded payment", () =>
    Effect.gen(function* () {
      const bare = event("checkout.session.expired", { id: "cs_test_1", payment_status: "unpaid", metadata: null })
      assert.deepStrictEqual(yield* hear(bare, header(bare)), {
        eventId: "evt_1",
        livemode: true,
        kind: "expired",
        checkoutId: "cs_test_1",
        paymentId: null,
        amountCents: null,
        currency: null
      })
      const expanded = event("checkout.session.completed", { ...session, payment_intent: { id: "pi_2", amount: 1 } })
      assert.strictEqual((yield* hear(expanded, header(expanded))).paymentId, "pi_2")
    })
  )

  it.effect("is rejected without a signature or with a malformed one", () =>
    Effect.gen(function* () {
      const tag = signature(completed)
      for (const signed of [
        undefined,
        "",
        "t=",
        `v1=${tag}`,
        `t=now,v1=${tag}`,
        `t=-1,v1=${tag}`,
        `t=${signedAt}x,v1=${tag}`,
        `t=${signedAt},t=${signedAt},v1=${tag}`,
        `T=${signedAt},v1=${tag}`
      ]) {
        assert.strictEqual(yield* refusal(completed, signed), notAHeader, signed)
      }
      for (const signed of [
        `t=${signedAt}`,
        `t=${signedAt},v1=`,
        `t=${signedAt},v1`,
        `t=${signedAt},v0=${tag}`,
        `t=${signedAt},v1=${tag.slice(1)}`,
        `t=${signedAt},v1=${tag.toUpperCase()}`,
        `t=${signedAt + 1},v1=${tag}`
      ]) {
        assert.strictEqual(yield* refusal(completed, signed), notSigned, signed)
      }
    })
  )

  it.effect("is rejected with the signature of another secret, or without a configured secret", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* refusal(completed, header(completed, otherSecret)), notSigned)
      const nothing = createHmac("sha256", "").update(`${signedAt}.${completed}`).digest("hex")
      const error = yield* Effect.flip(
        verify({
          rawBody: Buffer.from(completed),
          signature: `t=${signedAt},v1=${nothing}`,
          secret: Redacted.make("")
        })
      )
      assert.strictEqual(error.message, notSigned)
    })
  )

  it.effect("is accepted if one of two signatures is valid, as during a rotation", () =>
    Effect.gen(function* () {
      const [right, wrong] = [signature(completed), signature(completed, otherSecret)]
      assert.strictEqual((yield* hear(completed, `t=${signedAt},v1=${wrong},v1=${right}`)).eventId, "evt_1")
      assert.strictEqual((yield* hear(completed, `t=${signedAt},v1=${right},v1=${wrong},v0=${wrong}`)).eventId, "evt_1")
      assert.strictEqual(yield* refusal(completed, `t=${signedAt},v1=${wrong},v1=${wrong}`), notSigned)
    })
  )

  it.effect("is accepted up to 300 s before or after the clock, and rejected from 301 s", () =>
    Effect.gen(function* () {
      for (const off of [300, -300]) {
        assert.strictEqual((yield* hear(completed, header(completed, secret, signedAt - off))).eventId, "evt_1")
      }
      for (const off of [301, -301, 86_400, -86_400]) {
        assert.strictEqual(yield* refusal(completed, header(completed, secret, signedAt - off)), notTimely)
      }
    })
  )

  it.effect("is rejected if its body differs from the signed bytes", () =>
    Effect.gen(function* () {
      const grüße = event("checkout.session.completed", { ...session, metadata: { note: "Grüße \ufffd" } })
      const signed = header(grüße)
      assert.strictEqual((yield* hear(grüße, signed)).eventId, "evt_1")
      for (const changed of [
        JSON.stringify(JSON.parse(grüße)),
        `${grüße}\n`,
        `\ufeff${grüße}`,
        grüße.replaceAll("\n", "\r\n"),
        grüße.replace("2895", "1"),
        grüße.normalize("NFD"),
        Buffer.from(grüße, "latin1"),
        // A lenient decoder reads this as the same text.
        Buffer.from(Buffer.from(grüße).toString("latin1").replace("\u00ef\u00bf\u00bd", "\u00ff"), "latin1"),
        ""
      ]) {
        assert.strictEqual(yield* refusal(changed, signed), notSigned)
      }
    })
  )

  it.effect("is rejected, though signed, if it differs from Stripe's documentation", () =>
    Effect.gen(function* () {
      for (const payload of [
        "not JSON",
        "null",
        "[]",
        "{}",
        event("checkout.session.completed", null),
        event("checkout.session.completed", { ...session, id: "" }),
        event("checkout.session.completed", { ...session, payment_status: undefined }),
        event("checkout.session.completed", { ...session, amount_total: "2895" }),
        event("checkout.session.completed", { ...session, amount_total: 28.95 }),
        event("checkout.session.completed", session, { id: 1 }),
        event("checkout.session.completed", session, { livemode: "true" }),
        event("checkout.session.completed", session, { data: undefined })
      ]) {
        assert.strictEqual(
          yield* refusal(payload, header(payload)),
          "The body: expected an event of Stripe in its documented form",
          payload
        )
      }
    })
  )
})

const stripe = Layer.unwrap(
  Effect.map(StripeSimulator, (simulator) =>
    BillingStripe.layer({
      secretKey: Redacted.make(simulator.secretKey),
      webhookSecret: Redacted.make(simulator.webhookSecret),
      apiUrl: simulator.url
    })
  )
).pipe(Layer.provideMerge(StripeSimulator.layer))

let orders = 0

/** A checkout before its payment. */
const openCheckout = Effect.gen(function* () {
  const billing = yield* Billing
  const order = OrderId.make(`01980000-0000-7000-8000-${`${++orders}`.padStart(12, "0")}`)
  const { id } = yield* billing.checkout({
    orderId: order,
    workspaceId: WorkspaceId.make("01980000-0000-7000-8000-ffffffffffff"),
    domain: DomainName.make("example.com"),
    years: 1,
    priceCents: 1_597,
    successUrl: "https://shop.example/purchase/success",
    cancelUrl: "https://shop.example/purchase/cancel"
  })
  return { id, order }
})

/** The service's result for the next callback. */
const nextNews = Effect.gen(function* () {
  const { webhookSecret } = yield* StripeSimulator
  const receiver = yield* WebhookReceiver
  const { body, headers } = yield* receiver.next
  const signed = headers["stripe-signature"]
  return yield* verify({
    rawBody: body,
    signature: typeof signed === "string" ? signed : undefined,
    secret: Redacted.make(webhookSecret)
  })
})

layer(Layer.merge(stripe, WebhookReceiver.layer), { excludeTestServices: true })("A callback over HTTP", (it) => {
  it.effect("reports a paid checkout with the price of the order, on each repeat", () =>
    Effect.gen(function* () {
      const simulator = yield* StripeSimulator
      const { url } = yield* WebhookReceiver
      const { id, order } = yield* openCheckout
      const event = yield* simulator.pay(id)
      assert.deepStrictEqual(yield* simulator.send(event, url, { times: 2 }), [200, 200])
      const first = yield* nextNews
      assert.deepStrictEqual(first, {
        eventId: event.id,
        livemode: false,
        kind: "paid",
        checkoutId: id,
        paymentId: event.data.object.payment_intent,
        amountCents: 1_597,
        currency: "usd"
      })
      assert.deepStrictEqual(yield* nextNews, first)
      const [payment] = (yield* simulator.payments).filter((payment) => payment.id === first.paymentId)
      assert.deepStrictEqual(payment?.metadata, { order_id: order })
    })
  )

  it.effect("reports a bank debit as unpaid and then its outcome, in any order", () =>
    Effect.gen(function* () {
      const simulator = yield* StripeSimulator
      const { url } = yield* WebhookReceiver
      const [good, bad] = [yield* openCheckout, yield* openCheckout]
      const completed = yield* simulator.pay(good.id, { later: true })
      const settled = yield* simulator.settle(good.id)
      yield* simulator.pay(bad.id, { later: true })
      const bounced = yield* simulator.bounce(bad.id)

      for (const event of [settled, completed, bounced]) yield* simulator.send(event, url)
      assert.strictEqual((yield* nextNews).kind, "paid")
      assert.strictEqual((yield* nextNews).kind, "other")
      const { checkoutId, kind } = yield* nextNews
      assert.deepStrictEqual({ checkoutId, kind }, { checkoutId: bad.id, kind: "failed" })
    })
  )

  it.effect("reports an expired checkout, by itself or through the API", () =>
    Effect.gen(function* () {
      const simulator = yield* StripeSimulator
      const { url } = yield* WebhookReceiver
      const [left, ended] = [yield* openCheckout, yield* openCheckout]
      yield* simulator.send(yield* simulator.expire(left.id), url)
      const first = yield* nextNews
      assert.deepStrictEqual([first.kind, first.checkoutId], ["expired", left.id])

      const server = new URL(simulator.url)
      const api = new Stripe(simulator.secretKey, { protocol: "http", host: server.hostname, port: server.port })
      const expired = yield* Effect.promise(() => api.checkout.sessions.expire(ended.id))
      assert.strictEqual(expired.status, "expired")
      assert.isNull((yield* Effect.promise(() => api.checkout.sessions.retrieve(ended.id))).url)
      const again = yield* Effect.flip(Effect.tryPromise(() => api.checkout.sessions.expire(ended.id)))
      assert.include(String(again.cause), 'Only Checkout Sessions with a status in ["open"] can be expired')

      const event = (yield* simulator.events).find(({ data }) => data.object.id === ended.id)
      assert.isDefined(event)
      yield* simulator.send(event, url, { times: 3, atOnce: true })
      for (const _ of [1, 2, 3]) assert.strictEqual((yield* nextNews).checkoutId, ended.id)
    })
  )

  it.effect("is rejected if late, early or forged", () =>
    Effect.gen(function* () {
      const simulator = yield* StripeSimulator
      const { url } = yield* WebhookReceiver
      const event = yield* simulator.pay((yield* openCheckout).id)
      for (const how of [{ age: 310 }, { age: -310 }, { secret: otherSecret }]) {
        yield* simulator.send(event, url, how)
        assert.strictEqual((yield* Effect.flip(nextNews))._tag, "Invalid")
      }
      yield* simulator.send(event, url, { age: 290 })
      assert.strictEqual((yield* nextNews).kind, "paid")
    })
  )
})
