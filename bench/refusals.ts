import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as Flags from "./Flags.ts"
import * as RefusalFlood from "./RefusalFlood.ts"
import * as Table from "./Table.ts"

const page = "bench/README.md"

Command.make(
  "refusals",
  {
    rate: Flags.count("rate", 2_000, "Refused recipients a second"),
    ledger: Flag.Boolean("ledger").pipe(
      Flag.withDescription("Counts the rows of the ledger, which earlier versions lack"),
      Flag.withDefault(true)
    ),
    write: Flags.write(page)
  },
  Effect.fn(function* ({ ledger, rate, write }) {
    const text = (yield* RefusalFlood.measure(rate, ledger)).join("\n")
    yield* Console.log(text)
    if (write) yield* Table.write(page, "refusals", text)
  }, Effect.scoped)
).pipe(
  Command.withDescription("Floods a disabled domain and unknown names, and measures the mail of others"),
  Command.run({ version: "1" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
