import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import * as DomainNames from "../../domains/DomainNames.ts"
import { RegistrarName } from "../../model/Order.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Confirmation from "../terminal/Confirmation.ts"
import * as Given from "../terminal/Given.ts"
import * as Polling from "../terminal/Polling.ts"
import * as Service from "../terminal/Service.ts"
import * as Orders from "./Orders.ts"

export const command = Command.make(
  "purchase",
  {
    domain: Argument.String("domain").pipe(Argument.withDescription("the domain to buy, such as example.com")),
    years: Flag.Int("years").pipe(
      Flag.withDescription("1 to 10, default 1"),
      Flag.filter(
        (years) => years >= 1 && years <= 10,
        () => "a number from 1 to 10"
      ),
      Flag.withDefault(1)
    ),
    registrar: Flag.String("registrar").pipe(
      Flag.withDescription("Registrar, default the cheapest"),
      Flag.withSchema(RegistrarName),
      Flag.optional
    ),
    idempotencyKey: Flag.String("idempotency-key").pipe(
      Flag.withDescription(
        "Idempotency key of a purchase without an answer, so that it is not repeated. Default a new one"
      ),
      Flag.optional
    ),
    wait: Polling.wait,
    yes: Confirmation.yes,
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ domain, idempotencyKey, json, registrar, wait, years, yes, ...place }) {
    const made = yield* (yield* SecureRandom.SecureRandom).uuidV7()
    const order = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        if (!yes) {
          const { results } = yield* api.purchase.search({ query: { q: domain } })
          const name = DomainNames.canonical(domain.trim())
          const found = results.find((result) => result.domain === name)
          if (found?.available !== true)
            return yield* new CommandFailed({
              message: `${domain} is not available. Search for another name with inlet search`
            })
          yield* Confirmation.ask(
            yes,
            `Buy ${domain} for ${years === 1 ? `a year at $${found.price}` : `${years} years at $${found.price} a year`}?`
          )
        }
        const key = Option.getOrElse(idempotencyKey, () => made)
        const order = yield* api.purchase
          .buy({ payload: { domain, years, ...Given.of({ registrar }) }, headers: { "idempotency-key": key } })
          .pipe(
            Effect.tapErrorTag("HttpClientError", () =>
              Console.error(
                `Nobody knows whether it was bought. The same command with --idempotency-key ${key} asks again, and buys it once`
              )
            )
          )
        if (order.checkout_url !== null) yield* Console.error(`Pay at ${order.checkout_url}`)
        return yield* Orders.finished(api, order.order_id, wait)
      })
    )
    yield* Answer.lines(json, order, Orders.told(order))
  })
).pipe(
  Command.withDescription("Buy a domain. Asks for confirmation"),
  Command.provide(Layer.merge(NodeHttpClient.layerUndici, NodeCrypto.layer))
)
