import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as DomainLimit from "../domains/DomainLimit.ts"
import type { Invalid, NotFound } from "../model/ApiError.ts"
import * as Cents from "../model/Cents.ts"
import type { DomainName } from "../model/Domain.ts"
import type { OrderStatus } from "../model/Order.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import { Billing, type Callback, type PaymentNews } from "../providers/billing/Billing.ts"
import * as HeldElsewhere from "./HeldElsewhere.ts"
import * as OrderSteps from "./OrderSteps.ts"

/** Hours until an unpaid checkout expires. Stripe's own limit is 24. */
const unpaidHours = 25

/** Age of an order from which a missing checkout is due to a crash. Opening a checkout takes at most 30 s. */
const unopenedMinutes = 5

interface Target {
  readonly id: string
  readonly workspaceId: WorkspaceId
  readonly name: DomainName
  readonly status: OrderStatus
  readonly priceCents: number
  readonly paymentId: string | null
}

/** Processes each event of the payment provider once, in any order. */
export class Payments extends Context.Service<
  Payments,
  {
    /** The event's id and its effects are one transaction, so a crash loses nothing. */
    hear(callback: Callback): Effect.Effect<void, Invalid | NotFound | SqlError>
    /** Expires orders with an unpaid checkout. */
    readonly expireUnpaid: Effect.Effect<void, SqlError>
  }
>()("inlet/purchase/Payments") {
  static readonly layer = Layer.effect(
    Payments,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const billing = yield* Billing
      const checkRoom = yield* DomainLimit.make
      const isHeldElsewhere = yield* HeldElsewhere.make

      /** Finds the order by its stored checkout. The id in the callback alone is not trusted. */
      const target = (news: PaymentNews) =>
        Effect.map(
          sql<Target>`
            SELECT id, workspace_id, name, status, price_cents, payment_id FROM orders
            WHERE billing = ${billing.provider} AND checkout_id = ${news.checkoutId} FOR UPDATE
          `,
          ([order]) => order
        )

      /** A wrong amount is refunded completely, and ends the order. */
      const mispaid = Effect.fnUntraced(function* (order: Target, news: PaymentNews) {
        const usd = news.currency?.toLowerCase() === "usd"
        const sum = usd
          ? Cents.dollars(news.amountCents ?? 0)
          : `A sum in ${news.currency?.toUpperCase() ?? "no currency"}`
        const failure = `${sum} was paid, and the order costs ${Cents.dollars(order.priceCents)}`
        yield* sql`
          UPDATE orders SET
            status = 'failed', failure = ${failure}, payment_id = ${news.paymentId},
            -- A payment of nothing has no id, and nothing that could be given back.
            refund_due = ${news.paymentId !== null}, due_at = now()
          WHERE id = ${order.id} AND status IN ('pending_payment', 'expired', 'failed')
        `
        yield* Effect.logError(`A payment buys nothing and is refunded: ${failure}`)
      })

      // An expired order with a payment is fulfilled, or refunded if that fails.
      const paid = Effect.fnUntraced(function* (order: Target, news: PaymentNews) {
        if (order.paymentId !== null) {
          // A checkout is paid once. A second payment needs an operator.
          return order.paymentId === news.paymentId
            ? undefined
            : yield* Effect.logError("An order was paid twice. Refund the second payment at Stripe")
        }
        if (news.amountCents !== order.priceCents || news.currency?.toLowerCase() !== "usd") {
          return yield* mispaid(order, news)
        }
        const settle = (status: "paid" | "failed", failure: string | null) => sql`
          UPDATE orders SET
            status = ${status}, failure = ${failure}, refund_due = ${status === "failed"},
            payment_id = ${news.paymentId}, due_at = now()
          WHERE id = ${order.id} AND status IN ('pending_payment', 'expired', 'failed') AND payment_id IS NULL
        `
        // A checkout reserves nothing. If the domain is taken at payment, the money is refunded.
        const refusal = yield* refusalOf(order)
        if (refusal !== null) return yield* settle("failed", refusal)
        yield* sql.withTransaction(settle("paid", null)).pipe(
          // Another paid order has the name.
          Effect.catchReason("SqlError", "UniqueViolation", () => settle("failed", OrderSteps.nameTaken))
        )
      })

      /** Why a paid order buys nothing. */
      const refusalOf = Effect.fnUntraced(function* (order: Target) {
        const room = yield* checkRoom(order.workspaceId, order.name).pipe(
          Effect.as(null),
          Effect.catchTag("Conflict", ({ message }) => Effect.succeed(message))
        )
        if (room !== null) return room
        if (yield* isHeldElsewhere(order)) return HeldElsewhere.heldElsewhere
        // A name is paid once.
        const [other] = yield* sql`
          SELECT 1 FROM orders WHERE workspace_id = ${order.workspaceId} AND name = ${order.name} AND id <> ${order.id}
            AND status IN ('pending_payment', 'paid', 'registering', 'provisioning')
        `
        return other === undefined ? null : "This checkout was paid after another order for the name was placed"
      })

      const apply = Effect.fnUntraced(function* (order: Target, news: PaymentNews) {
        switch (news.kind) {
          case "paid":
            return yield* paid(order, news)
          case "expired":
          case "failed":
            return yield* Effect.asVoid(
              sql`UPDATE orders SET status = 'expired' WHERE id = ${order.id} AND status = 'pending_payment'`
            )
          case "refund_failed":
          case "other":
            return
        }
      })

      /** The money is at the provider again, so only the operator can pay it out. */
      const refundFailed = Effect.fnUntraced(function* (news: PaymentNews) {
        const [order] = yield* sql<{ readonly id: string }>`
          UPDATE orders SET
            refund_due = false, status = CASE WHEN status = 'refunded' THEN 'failed' ELSE status END
          WHERE billing = ${billing.provider} AND payment_id = ${news.paymentId}
          RETURNING id
        `
        if (order === undefined) return yield* Effect.logError("A failed refund belongs to no order of this service")
        yield* Effect.logError("A bank rejected a refund. Pay the customer in another way").pipe(
          Effect.annotateLogs({ order_id: order.id })
        )
      })

      const takeIn = Effect.fnUntraced(
        function* (news: PaymentNews) {
          const first = yield* sql`
            INSERT INTO payment_events (id) VALUES (${news.eventId}) ON CONFLICT DO NOTHING RETURNING id
          `
          if (first.length === 0 || news.kind === "other") return
          if (news.kind === "refund_failed") return yield* refundFailed(news)
          const order = news.checkoutId === null ? undefined : yield* target(news)
          if (order === undefined) return yield* Effect.logError("A payment belongs to no order of this service")
          yield* apply(order, news).pipe(Effect.annotateLogs({ order_id: order.id }))
        },
        (effect) => sql.withTransaction(effect),
        (effect, news) => Effect.annotateLogs(effect, { payment_event_id: news.eventId, kind: news.kind })
      )

      const hear = Effect.fn("Payments.hear")(function* (callback: Callback) {
        const news = yield* billing.hear(callback)
        if (news !== null) yield* takeIn(news)
      })

      return Payments.of({
        hear,
        expireUnpaid: sql`
          UPDATE orders SET status = 'expired'
          WHERE status = 'pending_payment' AND created_at < now() - CASE
            WHEN checkout_id IS NULL THEN make_interval(mins => ${unopenedMinutes})
            ELSE make_interval(hours => ${unpaidHours})
          END
        `.pipe(Effect.asVoid)
      })
    })
  )
}
