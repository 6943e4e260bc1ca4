import { Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { BillingError } from "../providers/billing/Billing.ts"
import type { RegistrarError } from "../providers/registrar/Registrar.ts"
import * as RetryDelay from "../schedule/RetryDelay.ts"
import * as OrderSteps from "./OrderSteps.ts"
import { type OrderRow, Orders } from "./Orders.ts"

/** The delay before a step without an attempt, or after its process stopped. */
const soon = Duration.seconds(5)

/**
 * The delays between the attempts of a step. The last one repeats. Retries are safe: each step first checks the
 * current state.
 */
const retries = RetryDelay.ofDelays([15, 30, 60, 120, 300, 600, 1_800].map(Duration.seconds)).pipe(
  Schedule.concat(Schedule.spaced("1 hour"))
)

/** Processes paid orders step by step. */
export class Fulfilment extends Context.Service<
  Fulfilment,
  {
    /** Processes an order leased to the caller as far as possible, and releases it. Returns the order. */
    advance(order: OrderRow): Effect.Effect<OrderRow, SqlError>
  }
>()("inlet/purchase/Fulfilment") {
  static readonly layer = Layer.effect(
    Fulfilment,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const orders = yield* Orders
      const { fail, step } = yield* OrderSteps.make

      /** Decides on a vendor's failure: final if nothing happened for certain, else a retry. */
      const onVendorError = Effect.fnUntraced(function* (order: OrderRow, error: RegistrarError) {
        const { reason } = error
        if (order.status === "registering" && reason._tag !== "Uncertain") {
          yield* fail(
            order,
            reason._tag === "NameTaken" ? OrderSteps.nameTaken : `The registrar refused: ${reason.message}`
          )
          return true
        }
        yield* Effect.logWarning(`${error.registrar} failed. Inlet retries`, reason)
        // Each look of a registration counts itself.
        if (order.status !== "registering") yield* sql`UPDATE orders SET tries = tries + 1 WHERE id = ${order.id}`
        return false
      })

      const onBillingError = Effect.fnUntraced(function* (order: OrderRow, error: BillingError) {
        yield* Effect.logError("A refund failed. Inlet retries", error)
        yield* sql`UPDATE orders SET tries = tries + 1 WHERE id = ${order.id}`
        return false
      })

      const advance: Fulfilment["Service"]["advance"] = Effect.fn("Fulfilment.advance")(
        function* (order) {
          let present = order
          while (isOpen(present)) {
            const before = present
            const goesOn = yield* step(before).pipe(
              Effect.as(true),
              Effect.catchTags({
                RegistrarError: (error) => onVendorError(before, error),
                BillingError: (error) => onBillingError(before, error)
              })
            )
            present = yield* orders.read(before.id)
            const stuck = present.status === before.status && present.refundDue === before.refundDue
            if (!goesOn || stuck) break
          }
          const wait = yield* RetryDelay.after(retries, present.tries)
          yield* orders.release(
            present.id,
            Option.getOrElse(wait, () => soon)
          )
          return present
        },
        (effect, order) =>
          effect.pipe(
            // After a disconnect or a stop, the worker continues.
            Effect.onInterrupt(() => Effect.ignore(orders.release(order.id, soon))),
            Effect.annotateLogs({ order_id: order.id })
          )
      )

      return Fulfilment.of({ advance })
    })
  )
}

const isOpen = ({ refundDue, status }: OrderRow) =>
  refundDue || status === "paid" || status === "registering" || status === "provisioning"
