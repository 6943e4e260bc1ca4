import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Invalid, NotFound } from "../../model/ApiError.ts"

export class PaymentCallbackApi extends HttpApiGroup.make("payments")
  .add(
    HttpApiEndpoint.post("stripe", "/api/webhooks/stripe", {
      headers: {
        "stripe-signature": Schema.optionalKey(
          Schema.String.annotate({ description: "Stripe's signature of the body, with its time" })
        )
      },
      payload: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/json" })),
      success: Schema.Struct({ received: Schema.Literal(true) }),
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Receive a Stripe event",
        description:
          "For Stripe only. 400 if the signature is missing, wrong or older than 300 s. Inlet processes each event once, in any order, and acknowledges unknown types."
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Payment callback", description: "For payment providers only" })) {}
