import { Context, type Effect, Schema } from "effect"
import type { Conflict } from "../../model/ApiError.ts"
import type { DomainName } from "../../model/Domain.ts"
import type { BillingProvider, OrderId } from "../../model/Order.ts"
import type { WorkspaceId } from "../../model/Workspace.ts"

/** The payment provider did not do it, or did not answer. */
export class BillingError extends Schema.TaggedError<BillingError>()("BillingError", { message: Schema.String }) {}

/** What is to be paid, by whom, for what. */
export interface Bill {
  readonly orderId: OrderId
  readonly workspaceId: WorkspaceId
  readonly domain: DomainName
  readonly years: number
  readonly priceCents: number
}

/** How orders are paid. */
export class Billing extends Context.Service<
  Billing,
  {
    readonly provider: BillingProvider
    /**
     * Takes the money at once where that is possible: runs in the transaction
     * that writes the order, so there is never one without the other. False
     * where the customer has to pay at a checkout first.
     */
    charge(bill: Bill): Effect.Effect<boolean, Conflict>
    /** Opens the checkout of an order. The same order gives the same checkout, however often it is asked. */
    checkout(
      bill: Bill & { readonly successUrl: string; readonly cancelUrl: string }
    ): Effect.Effect<{ readonly id: string; readonly url: string }, BillingError>
    /** Gives the whole price back. Safe to repeat: an order is refunded once. */
    refund(bill: Bill & { readonly paymentId: string | null }): Effect.Effect<void, BillingError>
  }
>()("inlet/providers/billing/Billing") {}
