import { Effect, Layer } from "effect"
import { NotFound } from "../../model/ApiError.ts"
import { BillingProvider } from "../../model/Order.ts"
import { Billing } from "./Billing.ts"
import { Wallet } from "./Wallet.ts"

/** Charges the workspace's wallet at once, and shows the wallet. */
export const layer = Layer.effect(
  Billing,
  Effect.gen(function* () {
    const wallet = yield* Wallet
    return Billing.of({
      provider: BillingProvider.make("mock"),
      charge: (bill) => Effect.as(wallet.debit(bill), true),
      // The order is already paid.
      checkout: () => Effect.die("the wallet has no checkout"),
      refund: wallet.refund,
      hear: () => Effect.fail(new NotFound({ message: "No such route. This service does not use Stripe" })),
      wallet: wallet.get
    })
  })
).pipe(Layer.provideMerge(Wallet.layer))
