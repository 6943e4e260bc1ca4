import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Answer from "../terminal/Answer.ts"
import * as Given from "../terminal/Given.ts"
import * as Service from "../terminal/Service.ts"

export const command = Command.make(
  "search",
  {
    q: Argument.String("name").pipe(
      Argument.withDescription("a label such as example, or a domain such as example.com")
    ),
    tlds: Flag.String("tlds").pipe(Flag.withDescription("Comma-separated, default com,net,org,io,dev"), Flag.optional),
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ json, q, tlds, ...place }) {
    const answer = yield* Service.ask(place, (api) => api.purchase.search({ query: { q, ...Given.of({ tlds }) } }))
    const rows = answer.results.map(({ available, domain, price, registrar }) => ({
      domain,
      available: available ? "yes" : "no",
      price: price === null ? "-" : `$${price}`,
      registrar: registrar ?? "-"
    }))
    yield* Answer.table(json, answer, rows, "No such names")
  })
).pipe(
  Command.withDescription("Search domains to buy, with the best price for a year"),
  Command.provide(NodeHttpClient.layerUndici)
)
