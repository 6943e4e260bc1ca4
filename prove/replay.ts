import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as Replays from "./Replays.ts"

Command.make(
  "replay",
  {
    deliveries: Flag.Int("deliveries").pipe(Flag.withDescription("Dead deliveries"), Flag.withDefault(100_000)),
    kills: Flag.Int("kills").pipe(Flag.withDescription("Number of kill -9 of a worker"), Flag.withDefault(5)),
    alone: Flag.Boolean("alone").pipe(
      Flag.withDescription("The killed worker is the only one, instead of one of two"),
      Flag.withDefault(false)
    )
  },
  Effect.fn(function* (options) {
    const verdict = yield* Replays.run(options)
    yield* Console.log(JSON.stringify(verdict, null, 2))
    const isLate = verdict.neighbour !== undefined && verdict.neighbour.beside.p99 > 250
    if (verdict.missing > 0 || verdict.job.delivered + verdict.job.failed !== options.deliveries || isLate) {
      return yield* Effect.die(new Error("The replay lost deliveries, its progress is wrong, or it delayed others"))
    }
  }, Effect.scoped)
).pipe(
  Command.withDescription("Replays dead deliveries on the server in TEST_DATABASE_URL while a worker is killed"),
  Command.run({ version: "1" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
