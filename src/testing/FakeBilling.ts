import { Effect, Layer, Schema } from "effect"
import { Conflict, Invalid, NotFound } from "../model/ApiError.ts"
import { BillingProvider } from "../model/Order.ts"
import { type Bill, Billing, BillingError, type PaymentNews } from "../providers/billing/Billing.ts"
import * as Mood from "./Mood.ts"

export interface Options {
  /** Its name in orders, `fake` by default. */
  readonly name?: string
  /** Whether customers pay at a checkout, as with Stripe. False by default. */
  readonly checkout?: boolean
}

const calls = ["charge", "checkout", "refund"] as const

export interface FakeBilling extends Mood.Moody<(typeof calls)[number]> {
  /** For `billing` of `TestInlet.layer`. */
  readonly layer: Layer.Layer<Billing>
  /** Payments in order: debited at once, or reported by `news`. */
  readonly charged: ReadonlyArray<Bill>
  /** Refunds in order. */
  readonly refunded: ReadonlyArray<Bill>
  /** The body of a callback for an order with a checkout. POST it to `/api/webhooks/stripe`. */
  news(kind: PaymentNews["kind"], order: { readonly order_id: string; readonly price_cents: number }): string
}

const News = Schema.fromJsonString(
  Schema.Struct({
    event_id: Schema.NonEmptyString,
    kind: Schema.Literals(["paid", "expired", "failed", "refund_failed", "other"]),
    order_id: Schema.String,
    amount_cents: Schema.Int
  })
)

/**
 * Payments in memory. Without a checkout every bill is debited at once, and `refuse` means a customer without money:
 * `409`. With `fail` a checkout is not opened (`502`), and a refund stays due and is retried.
 */
export const make = (options: Options = {}): FakeBilling => {
  const { checkout = false } = options
  const { under, will } = Mood.make(calls)
  const charged: Array<Bill> = []
  const refunded: Array<Bill> = []
  const open = new Map<string, Bill>()
  const refused = new Conflict({ message: "The fake billing refuses. Nothing was charged" })
  const broken = new BillingError({ message: "The fake billing does not answer" })

  const billing = Billing.of({
    provider: BillingProvider.make(options.name ?? "fake"),
    charge: (bill) =>
      checkout
        ? Effect.succeed(false)
        : Effect.sync(() => {
            charged.push(bill)
            return true
          }).pipe(under("charge", { refuse: Effect.fail(refused), fail: Effect.die(broken) })),
    checkout: (bill) =>
      Effect.sync(() => {
        open.set(bill.orderId, bill)
        return { id: `checkout-${bill.orderId}`, url: `https://pay.example/${bill.orderId}` }
      }).pipe(under("checkout", { refuse: Effect.fail(broken), fail: Effect.fail(broken) })),
    refund: (bill) =>
      Effect.sync(() => {
        if (!refunded.some(({ orderId }) => orderId === bill.orderId)) refunded.push(bill)
      }).pipe(under("refund", { refuse: Effect.fail(broken), fail: Effect.fail(broken) })),
    hear: ({ rawBody }) =>
      Schema.decodeEffect(News)(Buffer.from(rawBody).toString()).pipe(
        Effect.mapError(() => new Invalid({ message: "The body is not a callback of the fake billing" })),
        Effect.map(({ amount_cents, event_id, kind, order_id }): PaymentNews => {
          const bill = open.get(order_id)
          if (kind === "paid" && bill !== undefined) charged.push(bill)
          return {
            eventId: event_id,
            kind,
            checkoutId: `checkout-${order_id}`,
            paymentId: `payment-${order_id}`,
            amountCents: amount_cents,
            currency: "usd"
          }
        })
      ),
    wallet: () => Effect.fail(new NotFound({ message: "The fake billing has no wallet" }))
  })

  return {
    layer: Layer.succeed(Billing, billing),
    charged,
    refunded,
    will,
    news: (kind, { order_id, price_cents }) =>
      JSON.stringify({ event_id: `${kind}-${order_id}`, kind, order_id, amount_cents: price_cents })
  }
}
