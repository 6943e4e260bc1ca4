import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Flags from "./Flags.ts"
import * as RemovalCost from "./RemovalCost.ts"
import * as Table from "./Table.ts"

const page = "bench/README.md"

Command.make(
  "removal",
  {
    messages: Flags.count("messages", 100_000, "Messages of the domain"),
    write: Flags.write(page)
  },
  Effect.fn(function* ({ messages, write }) {
    const text = (yield* RemovalCost.measure(messages)).join("\n")
    yield* Console.log(text)
    if (write) yield* Table.write(page, "removal", text)
  }, Effect.scoped)
).pipe(
  Command.withDescription("Removes a domain with much mail, and measures the latency of other clients"),
  Command.run({ version: "1" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
