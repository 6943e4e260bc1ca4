import { Schema } from "effect"
import { DomainId, DomainName } from "./Domain.ts"

export const OrderId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("OrderId"))
export type OrderId = typeof OrderId.Type

// Open sets: custom Layers have their own names, and rows keep former names.
const Name = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9-]{0,31}$/, { message: "Expected a name such as namecheap, in lower-case letters" })
)

/** A seller of domain names: `mock`, `namecheap`, `openprovider`, or one of the operator's own. */
export const RegistrarName = Name.pipe(Schema.brand("RegistrarName"))
export type RegistrarName = typeof RegistrarName.Type

/** How an order is paid: `mock`, `stripe`, or a way of the operator's own. */
export const BillingProvider = Name.pipe(Schema.brand("BillingProvider"))
export type BillingProvider = typeof BillingProvider.Type

/**
 * pending_payment → paid → registering → provisioning → completed. An order ends
 * otherwise as `expired` (never paid), `failed` (nothing was taken, or it was
 * given back) or `refunded` (given back through the payment provider).
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

/** An order that is done: registered, and its records published. */
export const CompletedOrder = Schema.Struct({ ...fields, status: Schema.Literal("completed") }).annotate({
  identifier: "CompletedOrder"
})

/** An order that is on its way. */
export const OpenOrder = Schema.Struct({
  ...fields,
  status: Schema.Literals(["pending_payment", "paid", "registering", "provisioning"])
}).annotate({ identifier: "OpenOrder" })
