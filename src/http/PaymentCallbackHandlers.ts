import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Payments } from "../purchase/Payments.ts"
import { Api } from "./Api.ts"

export const layer = HttpApiBuilder.group(
  Api,
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
