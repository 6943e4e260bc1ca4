import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { DateTime, Effect } from "effect"
import { Command } from "effect/cli"
import * as Cents from "../../model/Cents.ts"
import * as Answer from "../terminal/Answer.ts"
import * as Service from "../terminal/Service.ts"

export const command = Command.make(
  "wallet",
  Service.flags,
  Effect.fnUntraced(function* ({ json, ...place }) {
    const answer = yield* Service.ask(place, (api) => api.purchase.wallet())
    yield* Answer.lines(json, answer, [
      `balance $${answer.balance}`,
      ...answer.entries.map(
        ({ amount_cents, created_at, kind }) =>
          `${DateTime.formatIso(created_at)}  ${kind}  ${Cents.dollars(amount_cents)}`
      )
    ])
  })
).pipe(Command.withDescription("Show the mock wallet"), Command.provide(NodeHttpClient.layerUndici))
