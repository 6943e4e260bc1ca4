import { Context, type DateTime, type Effect, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Conflict, Invalid, NotFound } from "../../model/ApiError.ts"
import type { DomainName } from "../../model/Domain.ts"
import type { BillingProvider, OrderId } from "../../model/Order.ts"
import type { WorkspaceId } from "../../model/Workspace.ts"

/** The payment provider failed or did not answer. */
export class BillingError extends Schema.TaggedError<BillingError>()("BillingError", { message: Schema.String }) {}

/** The payment: amount, workspace and order. */
export interface Bill {
  readonly orderId: OrderId
  readonly workspaceId: WorkspaceId
  readonly domain: DomainName
  readonly years: number
  readonly priceCents: number
}

/** A payment callback as received, because its signature covers the raw bytes. */
export interface Callback {
  readonly rawBody: Uint8Array
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** The content of a payment callback. Missing values are null. */
export interface PaymentNews {
  readonly eventId: string
  /**
   * `failed` is a payment that failed, and `refund_failed` a refund that the bank gave back, which has a `paymentId`
   * alone. `other` changes no order, such as a completed but unpaid checkout.
   */
  readonly kind: "paid" | "expired" | "failed" | "refund_failed" | "other"
  readonly checkoutId: string | null
  readonly paymentId: string | null
  readonly amountCents: number | null
  readonly currency: string | null
}

/** The balance of a workspace with its entries. */
export interface WalletStatement {
  readonly balanceCents: number
  /** Newest first. */
  readonly entries: ReadonlyArray<{
    readonly orderId: OrderId | null
    readonly amountCents: number
    readonly kind: "opening" | "debit" | "refund"
    readonly createdAt: DateTime.Utc
  }>
}

/**
 * How orders are paid. A wallet is in the database, so its failure is a `SqlError`. Each call has a minute. A refund
 * without an answer is due again later.
 */
export class Billing extends Context.Service<
  Billing,
  {
    readonly provider: BillingProvider
    /**
     * Debits at once if possible. Runs in the transaction that writes the order, so that neither exists without the
     * other. Returns false if the customer must pay at a checkout first.
     */
    charge(bill: Bill): Effect.Effect<boolean, Conflict | SqlError>
    /** Opens the checkout of an order. Repeated calls for the same order return the same checkout. */
    checkout(
      bill: Bill & { readonly successUrl: string; readonly cancelUrl: string }
    ): Effect.Effect<{ readonly id: string; readonly url: string }, BillingError>
    /** Refunds the whole price. Idempotent: an order is refunded once. */
    refund(bill: Bill & { readonly paymentId: string | null }): Effect.Effect<void, BillingError | SqlError>
    /**
     * Verifies and decodes a callback. Null for the other mode of the account. `NotFound` if the provider has no
     * callbacks.
     */
    hear(callback: Callback): Effect.Effect<PaymentNews | null, Invalid | NotFound>
    /** `NotFound` for providers with a checkout. */
    wallet(workspaceId: WorkspaceId): Effect.Effect<WalletStatement, NotFound | SqlError>
  }
>()("inlet/providers/billing/Billing") {}
