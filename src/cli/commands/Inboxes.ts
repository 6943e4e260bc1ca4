import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Answer from "../terminal/Answer.ts"
import * as Service from "../terminal/Service.ts"

const create = Command.make("create", Service.flags, ({ json, ...place }) =>
  Effect.flatMap(
    Service.ask(place, (api) => api.domains.instantInbox({ headers: {} })),
    (answer) => Answer.lines(json, answer, [answer.address])
  )
).pipe(Command.withDescription("Create an instant inbox, or print the address of the existing one"))

export const command = Command.make("inboxes").pipe(
  Command.withDescription("Instant inboxes"),
  Command.withSubcommands([create]),
  Command.provide(NodeHttpClient.layerUndici)
)
