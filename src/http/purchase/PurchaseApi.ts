import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BadGateway, Conflict, Invalid, NotFound, TooManyRequests } from "../../model/ApiError.ts"
import { CompletedOrder, OpenOrder, Order, OrderId } from "../../model/Order.ts"
import { SearchResult } from "../../purchase/Search.ts"
import { Authorization } from "../requests/Authorization.ts"
import * as Idempotency from "../requests/Idempotency.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as PageQuery from "../requests/PageQuery.ts"

const ownPage = "by default Inlet's own page with the state of the order"

const years = "Expected a whole number from 1 to 10"

export class PurchaseApi extends HttpApiGroup.make("purchase")
  .add(
    HttpApiEndpoint.get("search", "/api/domains/search", {
      query: {
        q: Schema.String.annotate({ description: "a label such as example, or a domain such as example.com" }),
        tlds: Schema.optionalKey(
          Schema.String.annotate({ description: "comma-separated, 1 to 20, com,net,org,io,dev by default" })
        )
      },
      success: Schema.Struct({ results: Schema.Array(SearchResult) }),
      error: [Invalid.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Search domains to buy",
        description:
          "Returns the lowest price of the configured registrars for each candidate and one year. Registrars that fail or take more than 5 s are left out. 429 beyond 60 searches and purchases a minute or 1,000 a day."
      })
    ),
    HttpApiEndpoint.post("buy", "/api/domains/purchase", {
      payload: Schema.Struct({
        domain: Schema.String.annotate({ description: "a domain such as example.com" }),
        years: Schema.Int.annotate({ description: "years to register it for" })
          .check(Schema.isBetween({ minimum: 1, maximum: 10 }, { message: years }))
          .annotate({
            message: years
          }),
        registrar: Schema.optionalKey(
          Schema.String.annotate({ description: "one of the configured registrars, by default the cheapest" })
        ),
        success_url: Schema.optionalKey(
          Schema.String.annotate({ description: `return URL after payment, ${ownPage}` })
        ),
        cancel_url: Schema.optionalKey(
          Schema.String.annotate({ description: `return URL after cancellation, ${ownPage}` })
        )
      }),
      headers: Idempotency.headers,
      success: [CompletedOrder.pipe(HttpApiSchema.status(201)), OpenOrder.pipe(HttpApiSchema.status(202))],
      error: [Invalid.http, Conflict.http, TooManyRequests.http, BadGateway.http]
    })
      .middleware(Idempotency.Idempotency)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Buy a domain",
          description:
            "201 once the domain is registered and its records are published (mock wallet). 202 with a checkout_url for payment (Stripe), or while the registrar has not answered. 409 if the domain is taken, held by another workspace or in another open order, the domain limit is reached, or the wallet has too little money. 502 if the registrar failed, with a refund."
        })
      ),
    HttpApiEndpoint.get("orders", "/api/domains/orders", {
      query: {
        limit: PageQuery.Limit,
        cursor: Schema.optionalKey(Schema.String.annotate({ description: "`next_cursor` of the previous page" }))
      },
      success: Schema.Struct({ orders: Schema.Array(Order), next_cursor: PageQuery.NextCursor }),
      error: Invalid.http
    }).annotateMerge(OpenApi.annotations({ summary: "List orders, newest first" })),
    HttpApiEndpoint.get("order", "/api/domains/orders/:orderId", {
      params: { orderId: OrderId },
      success: Order,
      error: NotFound.http
    }).annotateMerge(OpenApi.annotations({ summary: "Get an order" })),
    HttpApiEndpoint.get("wallet", "/api/domains/wallet", {
      success: Schema.Struct({
        balance_cents: Schema.Int,
        balance: Schema.String,
        currency: Schema.Literal("USD"),
        entries: Schema.Array(
          Schema.Struct({
            order_id: Schema.NullOr(OrderId),
            amount_cents: Schema.Int,
            kind: Schema.Literals(["opening", "debit", "refund"]),
            created_at: Schema.DateTimeUtcFromString
          })
        )
      }),
      error: NotFound.http
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Get the mock wallet",
        description: "Every workspace starts with $50.00. 404 unless the billing provider is mock."
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Purchase", description: "Buying domains" })) {}
