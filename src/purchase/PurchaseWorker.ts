import { Context, type Duration, Effect, Layer } from "effect"
import { every, survive } from "../schedule/BackgroundLoop.ts"
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

    const fulfilDue = Effect.gen(function* () {
      const due = yield* orders.claimDue(atATime)
      yield* Effect.forEach(due, (order) => survive(failed("An order"), fulfilment.advance(order)), {
        concurrency: "unbounded",
        discard: true
      })
      return due.length
    }).pipe(Effect.repeat({ while: (count) => count === atATime }))

    yield* every(interval, failed("Looking for due orders"), fulfilDue)
    yield* every(interval, failed("Looking whether DNS has spread"), provisioning.verifyDue)
    yield* every("1 minute", failed("Looking for unpaid orders"), payments.expireUnpaid)
    yield* every("1 day", failed("Looking for dropped domains"), renewals.lookAfterTerms)
  })
)

const failed = (name: string) => `${name}: this failed and is tried again`
