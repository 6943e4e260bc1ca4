import { Clock, Effect, Redacted, Schema } from "effect"
import Stripe from "stripe"
import { Invalid } from "../../model/ApiError.ts"
import type { PaymentNews } from "./Billing.ts"

/** The event, and whether it is in live mode. */
export interface StripeNews extends PaymentNews {
  readonly livemode: boolean
}

const toleratedSeconds = 300

/**
 * Verifies Stripe's signature of these bytes within the last 300 s, and decodes them. During a secret rotation one
 * valid signature is enough.
 */
export const verify = Effect.fn("StripeCallback.verify")(function* (callback: {
  /** The raw body. */
  readonly rawBody: Uint8Array
  /** The Stripe-Signature header. */
  readonly signature: string | undefined
  readonly secret: Redacted.Redacted
}): Effect.fn.Return<StripeNews, Invalid> {
  const signature = callback.signature ?? ""
  const signedAt = yield* timestamp(signature)
  const now = yield* Clock.currentTimeMillis
  // Stripe's library rejects old timestamps, not future ones.
  if (Math.abs(Math.floor(now / 1_000) - signedAt) > toleratedSeconds) {
    return yield* new Invalid({
      message: `Stripe-Signature: expected a time of signing within ${toleratedSeconds} seconds of this clock`
    })
  }
  const event = yield* Effect.try({
    try: () =>
      Stripe.webhooks.constructEvent(
        exactText.decode(callback.rawBody),
        signature,
        Redacted.value(callback.secret),
        toleratedSeconds,
        undefined,
        now
      ),
    catch: (cause) => (cause instanceof SyntaxError ? misunderstood() : unsigned())
  })
  return yield* Effect.mapError(news(event), misunderstood)
})

// The library's own decoder drops a byte order mark and repairs invalid UTF-8, so it would accept bytes other than
// the signed ones.
const exactText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const timestamp = (signature: string) => {
  const [time, ...more] = signature.split(",").filter((part) => part.startsWith("t="))
  const seconds = /^t=(\d{1,12})$/.exec(time ?? "")?.[1]
  return seconds === undefined || more.length > 0
    ? Effect.fail(
        new Invalid({ message: "Stripe-Signature: expected a header of the form t=<seconds>,v1=<signature>" })
      )
    : Effect.succeed(Number(seconds))
}

const Unset = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const Event = Schema.Struct({
  id: Schema.NonEmptyString,
  type: Schema.String,
  livemode: Schema.Boolean,
  /** The connected account of the event. Events of our own account have none. */
  account: Unset(Schema.String),
  data: Schema.Struct({ object: Schema.Unknown })
})

const Payment = Unset(Schema.Union([Schema.String, Schema.Struct({ id: Schema.String })]))

const idOf = (payment: typeof Payment.Type | undefined) =>
  typeof payment === "string" ? payment : (payment?.id ?? null)

const Refund = Schema.Struct({ status: Schema.NullOr(Schema.String), payment_intent: Payment })

/** A refund that a bank rejects days later. Versions of Stripe's API differ in which of them they send. */
const refundTypes: ReadonlySet<string> = new Set(["refund.failed", "refund.updated", "charge.refund.updated"])

const Session = Schema.Struct({
  id: Schema.NonEmptyString,
  payment_status: Schema.String,
  payment_intent: Payment,
  amount_total: Unset(Schema.Int),
  currency: Unset(Schema.String)
})

const unsigned = () =>
  new Invalid({ message: "Stripe-Signature: expected a signature of this body, as sent, with the endpoint's secret" })

const misunderstood = () => new Invalid({ message: "The body: expected an event of Stripe in its documented form" })

const decodeEvent = Schema.decodeUnknownEffect(Event)
const decodeSession = Schema.decodeUnknownEffect(Session)
const decodeRefund = Schema.decodeUnknownEffect(Refund)

const news = Effect.fnUntraced(function* (callback: unknown): Effect.fn.Return<StripeNews, Schema.SchemaError> {
  const event = yield* decodeEvent(callback)
  const { id: eventId, livemode, type } = event
  const other = {
    eventId,
    livemode,
    kind: "other",
    checkoutId: null,
    paymentId: null,
    amountCents: null,
    currency: null
  } as const
  if (typeof event.account === "string") return other
  if (refundTypes.has(type)) {
    const { payment_intent, status } = yield* decodeRefund(event.data.object)
    const paymentId = idOf(payment_intent)
    return (status === "failed" || status === "canceled") && paymentId !== null
      ? { ...other, kind: "refund_failed", paymentId }
      : other
  }
  if (!type.startsWith("checkout.session.")) return other
  const session = yield* decodeSession(event.data.object)
  return {
    eventId,
    livemode,
    kind: kindOf(type, session.payment_status),
    checkoutId: session.id,
    paymentId: idOf(session.payment_intent),
    amountCents: session.amount_total ?? null,
    currency: session.currency ?? null
  }
})

const kindOf = (type: string, paymentStatus: string): PaymentNews["kind"] => {
  switch (type) {
    // Completed but unpaid, such as a bank debit. An async event reports the outcome days later.
    case "checkout.session.completed":
      return paymentStatus === "paid" || paymentStatus === "no_payment_required" ? "paid" : "other"
    case "checkout.session.async_payment_succeeded":
      return "paid"
    case "checkout.session.async_payment_failed":
      return "failed"
    case "checkout.session.expired":
      return "expired"
    default:
      return "other"
  }
}
