import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Flags from "./Flags.ts"
import * as Table from "./Table.ts"
import * as WebhookCost from "./WebhookCost.ts"

const page = "bench/README.md"

Command.make(
  "webhooks",
  {
    messages: Flags.count("messages", 400, "Messages of a round"),
    rounds: Flags.count("rounds", 3, "Rounds of each kind of domain"),
    write: Flags.write(page)
  },
  Effect.fn(function* ({ messages, rounds, write }) {
    const text = yield* WebhookCost.measure(messages, rounds)
    yield* Console.log(text)
    if (write) yield* Table.write(page, "webhooks", text)
  }, Effect.scoped)
).pipe(
  Command.withDescription("Measures what 10,000 webhooks cost a mail, 100 in each of 100 domains"),
  Command.run({ version: "1" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
