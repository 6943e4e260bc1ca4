import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as DomainLimit from "../domains/DomainLimit.ts"
import { isWithin } from "../domains/DomainNames.ts"
import { BadGateway, Conflict, Invalid, type NotFound } from "../model/ApiError.ts"
import type { OrderId } from "../model/Order.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import { Billing, BillingError, type WalletStatement } from "../providers/billing/Billing.ts"
import { Registrars } from "../providers/registrar/Registrars.ts"
import * as Settings from "../Settings.ts"
import { Fulfilment } from "./Fulfilment.ts"
import * as HeldElsewhere from "./HeldElsewhere.ts"
import { nameTaken, StepTime } from "./OrderSteps.ts"
import { again, type OrderRow, Orders } from "./Orders.ts"
import { registrable, Search } from "./Search.ts"

/** Buys domain names: quotes again, debits, and starts the fulfilment. */
export class Purchase extends Context.Service<
  Purchase,
  {
    /** Endpoint 7. Returns the current order: completed, or in progress. */
    buy(
      workspaceId: WorkspaceId,
      wish: {
        readonly domain: string
        readonly years: number
        readonly registrar?: string | undefined
        readonly successUrl?: string | undefined
        readonly cancelUrl?: string | undefined
      }
    ): Effect.Effect<OrderRow, Invalid | Conflict | BadGateway | SqlError>
    get(workspaceId: WorkspaceId, id: OrderId): Effect.Effect<OrderRow, NotFound | SqlError>
    /** Newest first. */
    list: Orders["Service"]["list"]
    /** Endpoint 9. */
    wallet(workspaceId: WorkspaceId): Effect.Effect<WalletStatement, NotFound | SqlError>
  }
>()("inlet/purchase/Purchase") {
  static readonly layer = Layer.effect(
    Purchase,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const search = yield* Search
      const orders = yield* Orders
      const billing = yield* Billing
      const registrars = yield* Registrars
      const fulfilment = yield* Fulfilment
      const { publicUrl } = yield* Settings.purchase
      const platform = yield* Settings.platform
      const checkRoom = yield* DomainLimit.make
      const isHeldElsewhere = yield* HeldElsewhere.make
      const stepTime = yield* StepTime
      const pages = { success: `${publicUrl}/purchase/success`, cancel: `${publicUrl}/purchase/cancel` }

      const known = (wanted: string | undefined) =>
        wanted === undefined || [...registrars.keys()].some((name) => name === wanted)
          ? Effect.void
          : Effect.fail(
              new Invalid({
                message: `registrar: Expected one of ${[...registrars.keys()].join(", ")}. Without it Inlet chooses`
              })
            )

      const notSold = (name: OrderRow["name"]) =>
        new Conflict({
          message: `No registrar of this service sells domains under ${name.slice(name.indexOf("."))}. Choose another TLD`
        })

      /** The cheapest offer, or that of the requested registrar. */
      const bestOffer = Effect.fnUntraced(function* (
        name: OrderRow["name"],
        { registrar: wanted, years }: { readonly registrar?: string | undefined; readonly years: number }
      ) {
        const { answered, offers, silent } = yield* search.offers(name, years)
        if (answered === 0 && silent.length === 0) return yield* notSold(name)
        const offer = offers.find(({ registrar }) => wanted === undefined || registrar === wanted)
        if (offer !== undefined) return offer
        const nobodyAnswers =
          wanted === undefined ? answered === 0 && silent.length > 0 : silent.some((registrar) => registrar === wanted)
        if (nobodyAnswers) {
          return yield* new BadGateway({
            message: `${wanted ?? "No registrar"} ${wanted === undefined ? "answers" : "does not answer"} now. Retry in a minute`
          })
        }
        if (wanted !== undefined) {
          return yield* new Conflict({
            message: `${name} is not available from ${wanted}. It is taken, or ${wanted} does not sell its TLD. Leave \`registrar\` out to buy it from another one`
          })
        }
        return yield* (yield* search.sellsTldOf(name))
          ? new Conflict({ message: `${name} is taken. Choose another domain` })
          : notSold(name)
      })

      const checkOwn = Effect.fnUntraced(function* (workspaceId: WorkspaceId, name: OrderRow["name"]) {
        const [own] = yield* sql<{ readonly id: string }>`
          SELECT id FROM domains WHERE workspace_id = ${workspaceId} AND name = ${name}
        `
        if (own !== undefined) {
          return yield* new Conflict({
            message: `${name} is already in this workspace. GET /api/domains/${own.id} shows it`
          })
        }
        const bought = yield* sql`
          SELECT 1 FROM orders WHERE workspace_id = ${workspaceId} AND name = ${name} AND status = 'completed'
            AND created_at + make_interval(years => years) > now()
        `
        if (bought.length > 0) {
          return yield* new Conflict({ message: `This workspace has bought ${name}, and deleted it. ${again(name)}` })
        }
      })

      const checkout = Effect.fnUntraced(function* (order: OrderRow) {
        /** Adds the order id only to Inlet's own pages. */
        const namingOrder = (page: string) =>
          page === pages.success || page === pages.cancel ? `${page}?order=${order.id}` : page
        const { id, url } = yield* billing
          .checkout({
            ...billOf(order),
            successUrl: namingOrder(order.successUrl),
            cancelUrl: namingOrder(order.cancelUrl)
          })
          .pipe(
            Effect.timeoutOrElse({
              duration: stepTime,
              orElse: () => Effect.fail(new BillingError({ message: "no answer in time" }))
            }),
            Effect.catchTag("BillingError", (error) =>
              Effect.gen(function* () {
                yield* Effect.logError("A checkout could not be opened", error)
                yield* sql`UPDATE orders SET status = 'failed', failure = 'The checkout could not be opened' WHERE id = ${order.id}`
                return yield* new BadGateway({
                  message: "The payment provider does not answer. Nothing was charged. Retry in a minute"
                })
              })
            )
          )
        yield* sql`UPDATE orders SET checkout_id = ${id}, checkout_url = ${url} WHERE id = ${order.id}`
        return { ...order, checkoutId: id, checkoutUrl: url }
      })

      /** Reports a certain failure after payment at once. Uncertain ones continue in the background. */
      const fulfil = Effect.fnUntraced(function* (paid: OrderRow) {
        const order = yield* fulfilment.advance(paid)
        if (order.status !== "failed" && order.status !== "refunded") return order
        const refund = order.refundDue ? "The price is being given back" : "The price was given back"
        const message = `${order.failure}. ${refund}; order ${order.id} tells more`
        return yield* order.failure === nameTaken || order.failure === HeldElsewhere.heldElsewhere
          ? Effect.fail(new Conflict({ message }))
          : Effect.fail(new BadGateway({ message }))
      })

      const buy: Purchase["Service"]["buy"] = Effect.fn("Purchase.buy")(function* (workspaceId, wish) {
        const name = yield* registrable(wish.domain, "domain")
        if (isWithin(name, platform.domain)) {
          return yield* new Invalid({
            message: `domain: ${platform.domain} belongs to this service. POST /api/instant-inbox creates an address under it`
          })
        }
        yield* known(wish.registrar)
        const successUrl = yield* redirect("success_url", wish.successUrl, pages.success)
        const cancelUrl = yield* redirect("cancel_url", wish.cancelUrl, pages.cancel)
        // Checked before the registrars, which would report it as taken.
        yield* checkOwn(workspaceId, name)
        const offer = yield* bestOffer(name, wish)
        if (yield* isHeldElsewhere({ workspaceId, name })) {
          return yield* new Conflict({
            message: `Another workspace of this service holds ${name}. Remove the domain there, or ask the operator to release it. Then order again`
          })
        }

        const place = Effect.gen(function* () {
          yield* checkRoom(workspaceId, name)
          const order = yield* orders.insert({
            workspaceId,
            name,
            years: wish.years,
            registrar: offer.registrar,
            billing: billing.provider,
            priceCents: search.priceCents(offer, wish.years),
            successUrl,
            cancelUrl
          })
          const paid = yield* Effect.timeoutOrElse(billing.charge(billOf(order)), {
            duration: stepTime,
            orElse: () =>
              Effect.fail(
                new BadGateway({
                  message: "The payment did not end in time. Check whether it was charged, then order again"
                })
              )
          })
          return paid ? yield* orders.markPaid(order.id) : order
        })
        const order = yield* sql.withTransaction(place)
        return yield* order.status === "paid" ? fulfil(order) : checkout(order)
      })

      return Purchase.of({ buy, get: orders.get, list: orders.list, wallet: billing.wallet })
    })
  )
}

const billOf = (order: OrderRow) => ({
  orderId: order.id,
  workspaceId: order.workspaceId,
  domain: order.name,
  years: order.years,
  priceCents: order.priceCents
})

/** The return URL of the checkout, http(s) only. It is only passed to the payment provider. */
const redirect = (field: string, wanted: string | undefined, fallback: string) => {
  if (wanted === undefined) return Effect.succeed(fallback)
  const url = URL.parse(wanted)
  return url !== null && /^https?:$/.test(url.protocol) && wanted.length <= 2_048
    ? Effect.succeed(url.href)
    : Effect.fail(new Invalid({ message: `${field}: Expected an absolute http or https URL` }))
}
