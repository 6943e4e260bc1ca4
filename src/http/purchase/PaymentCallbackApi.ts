import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Invalid, NotFound } from "../../model/ApiError.ts"

export class PaymentCallbackApi extends HttpApiGroup.make("payments")
  .add(
    HttpApiEndpoint.post("stripe", "/api/webhooks/stripe", {
      headers: { "stripe-signature": Schema.optionalKey(Schema.String) },
      payload: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/json" })),
      success: Schema.Struct({ received: Schema.Literal(true) }),
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Stripe tells what became of a payment",
        description:
          "For Stripe, not for agents. 400 when the signature is missing, wrong, or older than 300 s. An event is done once, in whatever order events come; unknown types are acknowledged."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Payment callback", description: "For payment providers, not for agents" })
  ) {}
