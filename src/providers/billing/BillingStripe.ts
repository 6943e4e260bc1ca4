import { Cause, Duration, Effect, Layer, Redacted, Schema } from "effect"
import Stripe from "stripe"
import { NotFound } from "../../model/ApiError.ts"
import { BillingProvider } from "../../model/Order.ts"
import { version } from "../../Version.ts"
import { Billing, BillingError } from "./Billing.ts"
import * as StripeCallback from "./StripeCallback.ts"

/** The keys from Stripe's dashboard. */
export interface Options {
  readonly secretKey: Redacted.Redacted
  /** The signing secret of callbacks, see StripeCallback. */
  readonly webhookSecret: Redacted.Redacted
  /** Scheme, host and port of a server other than Stripe's. */
  readonly apiUrl?: string | undefined
  /** Timeout of a request, 10 s by default. */
  readonly timeout?: Duration.Input | undefined
}

/** Payment at Stripe: every order has a Checkout Session. */
export const layer = (options: Options) =>
  Layer.sync(Billing, () => {
    const stripe = new Stripe(Redacted.value(options.secretKey), {
      ...(options.apiUrl === undefined ? {} : serverAt(new URL(options.apiUrl))),
      // This timeout covers the whole request. The timeout of Node's client restarts with every byte.
      httpClient: Stripe.createFetchHttpClient(),
      timeout: Duration.toMillis(options.timeout ?? "10 seconds"),
      maxNetworkRetries: 0,
      telemetry: false,
      appInfo: { name: "Inlet", version }
    })

    const checkout: Billing["Service"]["checkout"] = Effect.fn("BillingStripe.checkout")(function* ({
      cancelUrl,
      domain,
      orderId,
      priceCents,
      successUrl,
      years
    }) {
      const name = `${domain}, ${years} ${years === 1 ? "year" : "years"}`
      const session = yield* ask(() =>
        stripe.checkout.sessions.create(
          {
            mode: "payment",
            line_items: [
              { quantity: 1, price_data: { currency: "usd", unit_amount: priceCents, product_data: { name } } }
            ],
            // Keeps amount and currency of the callback equal to the request.
            adaptive_pricing: { enabled: false },
            client_reference_id: orderId,
            metadata: { order_id: orderId },
            payment_intent_data: { metadata: { order_id: orderId } },
            success_url: successUrl,
            cancel_url: cancelUrl
          },
          repeatable(`checkout-${orderId}`)
        )
      )
      return yield* decodeCheckout(session)
    }, Effect.mapError(told))

    const refund: Billing["Service"]["refund"] = Effect.fn("BillingStripe.refund")(function* ({ orderId, paymentId }) {
      if (paymentId === null) {
        return yield* new BillingError({ message: "The order has no Stripe payment id, so Inlet cannot refund it" })
      }
      // Without an amount, Stripe refunds the rest.
      const { status } = yield* ask(() =>
        stripe.refunds.create(
          { payment_intent: paymentId, metadata: { order_id: orderId } },
          repeatable(`refund-${orderId}`)
        )
      ).pipe(
        Effect.flatMap(decodeRefund),
        Effect.catchIf(isAlreadyRefunded, () => Effect.succeed({ status: "succeeded" }))
      )
      if (status === "failed" || status === "canceled") {
        return yield* new BillingError({ message: `Stripe did not refund: the refund is ${status}` })
      }
    }, Effect.mapError(told))

    const live = isLive(options.secretKey)
    const hear: Billing["Service"]["hear"] = Effect.fn("BillingStripe.hear")(function* ({ headers, rawBody }) {
      const { livemode, ...news } = yield* StripeCallback.verify({
        rawBody,
        signature: headers["stripe-signature"],
        secret: options.webhookSecret
      })
      if (live === undefined || livemode === live) return news
      yield* Effect.logError(
        `A payment in ${livemode ? "live" : "test"} mode is ignored. STRIPE_SECRET_KEY belongs to the other mode`
      ).pipe(Effect.annotateLogs({ payment_event_id: news.eventId, kind: news.kind }))
      return null
    })

    return Billing.of({
      provider: BillingProvider.make("stripe"),
      charge: () => Effect.succeed(false),
      checkout,
      refund,
      hear,
      wallet: () =>
        Effect.fail(new NotFound({ message: "This service has no wallet. Orders are paid through a checkout" }))
    })
  })

/** The mode of a secret key, if its prefix shows it. */
const isLive = (secretKey: Redacted.Redacted) => {
  const mode = /^[a-z]+_(live|test)_/.exec(Redacted.value(secretKey))?.[1]
  return mode === undefined ? undefined : mode === "live"
}

const serverAt = ({ hostname, port, protocol }: URL) => {
  const plain = protocol === "http:"
  return { protocol: plain ? "http" : "https", host: hostname, port: port === "" ? (plain ? 80 : 443) : port } as const
}

/**
 * Stripe executes a request once per idempotency key and repeats the answer for at least a day, so a lost answer can
 * be requested twice more. The library does it, because it knows Stripe's hints for retries.
 */
const repeatable = (idempotencyKey: string) => ({ idempotencyKey, maxNetworkRetries: 2 })

type StripeError = InstanceType<typeof Stripe.errors.StripeError>

const isStripeError = (cause: unknown): cause is StripeError => cause instanceof Stripe.errors.StripeError

const isAlreadyRefunded = (error: StripeError | Schema.SchemaError) =>
  isStripeError(error) && error.code === "charge_already_refunded"

const ask = (request: () => Promise<unknown>) =>
  Effect.tryPromise({
    try: request,
    catch: (cause) => (isStripeError(cause) ? cause : new Cause.UnknownError(cause))
  }).pipe(Effect.catchIf(Cause.isUnknownError, Effect.die))

const decodeCheckout = Schema.decodeUnknownEffect(
  Schema.Struct({ id: Schema.NonEmptyString, url: Schema.NonEmptyString })
)

const decodeRefund = Schema.decodeUnknownEffect(Schema.Struct({ status: Schema.NullOr(Schema.String) }))

const told = (error: StripeError | Schema.SchemaError | BillingError) => {
  if (!isStripeError(error)) {
    return error._tag === "BillingError" ? error : new BillingError({ message: "Stripe's answer could not be decoded" })
  }
  const reference = error.requestId === undefined ? "" : ` (Stripe request ${error.requestId})`
  return new BillingError({ message: `${reasonOf(error)}${reference}` })
}

const reasonOf = (error: StripeError) => {
  const { errors } = Stripe
  if (error instanceof errors.StripeConnectionError) return "Stripe can't be reached, or did not answer in time"
  if (error instanceof errors.StripeAuthenticationError || error instanceof errors.StripePermissionError) {
    return "Stripe does not accept the secret key of this service"
  }
  if (error instanceof errors.StripeRateLimitError) return "Stripe is asked too often at the moment"
  // A retry may find the first request, which timed out here, still running.
  if (error.code === "idempotency_key_in_use") return "Stripe is still busy with an earlier request for this order"
  if (error instanceof errors.StripeAPIError) return "Stripe failed to answer"
  // Removes the masked keys that Stripe quotes.
  return `Stripe refused: ${error.message.replaceAll(/\b(?:sk|rk|pk|whsec)_\S+/g, "…")}`
}
