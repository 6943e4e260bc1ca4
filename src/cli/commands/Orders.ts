import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { DateTime, type Duration, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import * as Cents from "../../model/Cents.ts"
import { type Order, OrderId } from "../../model/Order.ts"
import * as Answer from "../terminal/Answer.ts"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Given from "../terminal/Given.ts"
import { inCommands } from "../terminal/InCommands.ts"
import * as Polling from "../terminal/Polling.ts"
import * as Service from "../terminal/Service.ts"

const open: ReadonlySet<string> = new Set(["pending_payment", "paid", "registering", "provisioning"])

/** The order once it is final, or at once without `--wait`. */
export const finished = (api: Service.Client, orderId: OrderId, wait: Duration.Duration) =>
  Polling.until(wait, api.purchase.order({ params: { orderId } }), {
    isLast: ({ status }) => !open.has(status),
    state: ({ order_id, status }) => `Order ${order_id} is ${status}`
  })

/** Prints the outcome and the next step. */
export const told = ({ domain, failure, next_steps, order_id, price_cents, status, years }: Order) => [
  `${domain} for ${years === 1 ? "a year" : `${years} years`} at ${Cents.dollars(price_cents)}: ${status}`,
  `order ${order_id}`,
  ...(failure === null ? [] : [failure]),
  ...next_steps.map(inCommands)
]

const list = Command.make(
  "list",
  { limit: EventFlags.limit, cursor: EventFlags.cursor, ...Service.flags },
  Effect.fnUntraced(function* ({ cursor, json, limit, ...place }) {
    const answer = yield* Service.ask(place, (api) => api.purchase.orders({ query: Given.of({ cursor, limit }) }))
    const rows = answer.orders.map(({ created_at, domain, order_id, price_cents, status, years }) => ({
      order_id,
      created: DateTime.formatIso(created_at),
      domain,
      years: `${years}`,
      price: Cents.dollars(price_cents),
      status
    }))
    yield* Answer.table(json, answer, rows, "No orders yet")
  })
).pipe(Command.withDescription("List orders, newest first"))

const get = Command.make(
  "get",
  { orderId: Argument.String("order_id").pipe(Argument.withSchema(OrderId)), wait: Polling.wait, ...Service.flags },
  Effect.fnUntraced(function* ({ json, orderId, wait, ...place }) {
    const order = yield* Service.ask(place, (api) => finished(api, orderId, wait))
    yield* Answer.record(json, order)
  })
).pipe(Command.withDescription("Show an order, with --wait once it is done"))

export const command = Command.make("orders").pipe(
  Command.withDescription("Orders of domains"),
  Command.withSubcommands([list, get]),
  Command.provide(NodeHttpClient.layerUndici)
)
