import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Cents from "../../model/Cents.ts"
import { toOrder } from "../../purchase/Orders.ts"
import { Purchase } from "../../purchase/Purchase.ts"
import { Search } from "../../purchase/Search.ts"
import { WorkspaceLimits } from "../../workspaces/WorkspaceLimits.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { PurchaseApi } from "./PurchaseApi.ts"

export const layer = HttpApiBuilder.group(
  GroupApi.of(PurchaseApi),
  "purchase",
  Effect.fn(function* (handlers) {
    const search = yield* Search
    const purchase = yield* Purchase
    const limits = yield* WorkspaceLimits

    return handlers.handleAll({
      search: Effect.fnUntraced(function* ({ query }) {
        const workspace = yield* CurrentWorkspace
        yield* limits.spend("domain search", workspace.id)
        return { results: yield* search.search(query.q, query.tlds) }
      }),
      buy: Effect.fnUntraced(function* ({ payload }) {
        const workspace = yield* CurrentWorkspace
        yield* limits.spend("domain search", workspace.id)
        const { status, ...order } = toOrder(
          yield* purchase.buy(workspace.id, {
            domain: payload.domain,
            years: payload.years,
            registrar: payload.registrar,
            successUrl: payload.success_url,
            cancelUrl: payload.cancel_url
          })
        )
        switch (status) {
          case "completed":
          case "pending_payment":
          case "paid":
          case "registering":
          case "provisioning":
            return { ...order, status }
          case "expired":
          case "failed":
          case "refunded":
            return yield* Effect.die(`order ${order.order_id} is ${status}, and the purchase did not fail`)
        }
      }),
      orders: Effect.fnUntraced(function* ({ query }) {
        const workspace = yield* CurrentWorkspace
        const { items, nextCursor } = yield* purchase.list(workspace.id, {
          limit: query.limit ?? 50,
          cursor: query.cursor
        })
        return { orders: items.map(toOrder), next_cursor: nextCursor }
      }),
      order: ({ params }) =>
        CurrentWorkspace.use(({ id }) => purchase.get(id, params.orderId)).pipe(Effect.map(toOrder)),
      wallet: Effect.fnUntraced(function* () {
        const workspace = yield* CurrentWorkspace
        const { balanceCents, entries } = yield* purchase.wallet(workspace.id)
        return {
          balance_cents: balanceCents,
          balance: Cents.decimal(balanceCents),
          currency: "USD",
          entries: entries.map(({ amountCents, createdAt, kind, orderId }) => ({
            order_id: orderId,
            amount_cents: amountCents,
            kind,
            created_at: createdAt
          }))
        }
      })
    })
  })
)
