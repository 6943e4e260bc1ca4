import { Context, type Duration, Effect, FiberSet, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { every, survive } from "../schedule/BackgroundLoop.ts"
import { DueWork } from "../schedule/DueWork.ts"
import { Fulfilment } from "./Fulfilment.ts"
import { Orders } from "./Orders.ts"
import { Payments } from "./Payments.ts"
import { Provisioning } from "./Provisioning.ts"
import { Renewals } from "./Renewals.ts"

/** Orders that one process handles concurrently. */
const atATime = 8

/** Polling interval. Tests shorten it. */
export const OrderLooks = Context.Reference("inlet/purchase/OrderLooks", {
  defaultValue: (): { readonly interval: Duration.Input } => ({ interval: "1 second" })
})

/** Processes orders, DNS propagation and renewals while the process runs. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const orders = yield* Orders
    const fulfilment = yield* Fulfilment
    const payments = yield* Payments
    const provisioning = yield* Provisioning
    const renewals = yield* Renewals
    const { interval } = yield* OrderLooks
    const sql = yield* SqlClient.SqlClient
    const { watch } = yield* DueWork
    const isOrderDue = yield* watch(sql`
      SELECT true FROM orders
      WHERE due_at <= now() AND (status IN ('paid', 'registering', 'provisioning') OR refund_due) LIMIT 1
    `)
    const isDomainDue = yield* watch(sql`
      SELECT true FROM domains
      WHERE origin = 'purchased' AND status = 'pending_verification' AND verify_at <= now() LIMIT 1
    `)

    const underWay = yield* FiberSet.make<void>()

    // An order whose vendor hangs keeps its place for some minutes, and others go on in the places that are left.
    const fulfilDue = Effect.gen(function* () {
      const free = atATime - (yield* FiberSet.size(underWay))
      const due = free > 0 ? yield* orders.claimDue(free) : []
      for (const order of due) {
        yield* FiberSet.run(underWay, Effect.asVoid(survive(failed("An order"), fulfilment.advance(order))))
      }
    })

    yield* every(interval, failed("Looking for due orders"), Effect.when(fulfilDue, isOrderDue))
    yield* every(interval, failed("Looking whether DNS has spread"), Effect.when(provisioning.verifyDue, isDomainDue))
    yield* every("1 minute", failed("Looking for unpaid orders"), payments.expireUnpaid)
    yield* every("1 day", failed("Looking for dropped domains"), renewals.lookAfterTerms)
  })
)

const failed = (name: string) => `${name}: this failed and is tried again`
