import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Payments } from "../../purchase/Payments.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { PaymentCallbackApi } from "./PaymentCallbackApi.ts"

export const layer = HttpApiBuilder.group(
  GroupApi.of(PaymentCallbackApi),
  "payments",
  Effect.fn(function* (handlers) {
    const payments = yield* Payments

    return handlers.handleAll({
      stripe: Effect.fnUntraced(function* ({ headers, payload }) {
        yield* payments.hear({ rawBody: payload, headers })
        return { received: true as const }
      })
    })
  })
)
