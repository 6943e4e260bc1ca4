import { NodeHttpClient } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { RegistrarName } from "../model/Order.ts"
import * as Answer from "./Answer.ts"
import { CommandFailed } from "./CommandFailed.ts"
import * as Confirmation from "./Confirmation.ts"
import * as Given from "./Given.ts"
import * as Orders from "./Orders.ts"
import * as Polling from "./Polling.ts"
import * as Service from "./Service.ts"

export const command = Command.make(
  "purchase",
  {
    domain: Argument.String("domain").pipe(Argument.withDescription("the name to buy, such as example.com")),
    years: Flag.Int("years").pipe(
      Flag.withDescription("1 to 10; 1 when absent"),
      Flag.filter(
        (years) => years >= 1 && years <= 10,
        () => "a number from 1 to 10"
      ),
      Flag.withDefault(1)
    ),
    registrar: Flag.String("registrar").pipe(
      Flag.withDescription("Whom to buy from; the cheapest when absent"),
      Flag.withSchema(RegistrarName),
      Flag.optional
    ),
    wait: Polling.wait,
    yes: Confirmation.yes,
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ domain, json, registrar, wait, years, yes, ...place }) {
    const order = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        if (!yes) {
          const { results } = yield* api.purchase.search({ query: { q: domain } })
          const found = results.find((result) => result.domain === domain.toLowerCase())
          if (found?.available !== true) return yield* new CommandFailed({ message: `${domain} is not to be had` })
          yield* Confirmation.ask(
            yes,
            `Buy ${domain} for ${years === 1 ? "a year" : `${years} years`} at $${found.price} a year`
          )
        }
        const order = yield* api.purchase.buy({
          payload: { domain, years, ...Given.of({ registrar }) },
          headers: {}
        })
        if (order.checkout_url !== null) yield* Console.error(`Pay at ${order.checkout_url}`)
        return yield* Orders.finished(api, order.order_id, wait)
      })
    )
    yield* Answer.lines(json, order, Orders.told(order))
  })
).pipe(Command.withDescription("Buy a domain; asks before it spends"), Command.provide(NodeHttpClient.layerUndici))
