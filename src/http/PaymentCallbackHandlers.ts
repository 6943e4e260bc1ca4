import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { NotFound } from "../model/ApiError.ts"
import * as StripeCallback from "../providers/billing/StripeCallback.ts"
import { Payments } from "../purchase/Payments.ts"
import * as Settings from "../Settings.ts"
import { Api } from "./Api.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "payments",
  Effect.fn(function* (handlers) {
    const payments = yield* Payments
    const { webhookSecret } = yield* Settings.stripe
    const { billingProvider } = yield* Settings.purchase

    return handlers.handleAll({
      stripe: Effect.fnUntraced(function* ({ headers, payload }) {
        if (billingProvider !== "stripe" || webhookSecret === undefined) {
          return yield* new NotFound({ message: "No such route; orders are not paid through Stripe here" })
        }
        yield* payments.hear(
          yield* StripeCallback.verify({
            rawBody: payload,
            signature: headers["stripe-signature"],
            secret: webhookSecret
          })
        )
        return { received: true as const }
      })
    })
  })
)
