import { Schema } from "effect"
import { DomainId, DomainName } from "./Domain.ts"

export const OrderId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("OrderId"))
export type OrderId = typeof OrderId.Type

// Open sets, because custom Layers have their own names, and rows keep former names.
const Name = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9-]{0,31}$/, { message: "Expected a name such as namecheap, in lower-case letters" })
)

/** A registrar: `mock`, `namecheap`, `openprovider`, or one of the operator. */
export const RegistrarName = Name.pipe(Schema.brand("RegistrarName"))
export type RegistrarName = typeof RegistrarName.Type

/** A billing provider: `mock`, `stripe`, or one of the operator. */
export const BillingProvider = Name.pipe(Schema.brand("BillingProvider"))
export type BillingProvider = typeof BillingProvider.Type

/**
 * pending_payment → paid → registering → provisioning → completed. Other final states are `expired` (never paid),
 * `failed` (not charged, or refunded to the wallet) and `refunded` (by the payment provider).
 */
export const OrderStatus = Schema.Literals([
  "pending_payment",
  "paid",
  "registering",
  "provisioning",
  "completed",
  "expired",
  "failed",
  "refunded"
])
export type OrderStatus = typeof OrderStatus.Type

const fields = {
  order_id: OrderId,
  domain: DomainName,
  years: Schema.Int,
  registrar: RegistrarName,
  price_cents: Schema.Int,
  currency: Schema.Literal("USD"),
  domain_id: Schema.NullOr(DomainId),
  checkout_url: Schema.NullOr(Schema.String),
  failure: Schema.NullOr(Schema.String),
  next_steps: Schema.Array(Schema.String),
  created_at: Schema.DateTimeUtcFromString
}

/** The purchase of a domain, as shown by the API. Unset values are null. */
export const Order = Schema.Struct({ ...fields, status: OrderStatus }).annotate({ identifier: "Order" })
export type Order = typeof Order.Type

/** A completed order: registered, with published records. */
export const CompletedOrder = Schema.Struct({ ...fields, status: Schema.Literal("completed") }).annotate({
  identifier: "CompletedOrder"
})

/** An order in progress. */
export const OpenOrder = Schema.Struct({
  ...fields,
  status: Schema.Literals(["pending_payment", "paid", "registering", "provisioning"])
}).annotate({ identifier: "OpenOrder" })
