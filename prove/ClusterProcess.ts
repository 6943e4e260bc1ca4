import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Duration, Effect, FileSystem, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { S3Server } from "../test/simulators/S3Server.ts"
import * as Harms from "./Harms.ts"
import * as HarmTrial from "./HarmTrial.ts"
import { Nodes } from "./Nodes.ts"
import * as Report from "./Report.ts"

class Disproved extends Schema.TaggedError<Disproved>()("Disproved", { message: Schema.String }) {}

const page = "docs/guarantees.md"

/** The part of `prove --cluster` in the namespace of Inlet. run.ts makes the network and starts it. */
Command.make(
  "cluster",
  {
    network: Argument.String("network"),
    each: Flag.Int("each").pipe(Flag.withDefault(60)),
    random: Flag.Int("random").pipe(Flag.withDefault(600)),
    rate: Flag.Int("rate").pipe(Flag.withDefault(100)),
    only: Flag.String("only").pipe(Flag.withDefault("")),
    write: Flag.Boolean("write").pipe(Flag.withDefault(false))
  },
  Effect.fn(
    function* ({ each, only, random, rate, write }) {
      const fs = yield* FileSystem.FileSystem
      const { version, whole } = yield* Nodes
      const trials = [
        ...Harms.all.map((harm) => ({ title: harm.title, harms: [harm], time: each })),
        { title: "all of these at random", harms: Harms.all, time: random }
      ].filter(({ time, title }) => title.includes(only) && time > 0)
      const verdicts = yield* Effect.forEach(
        trials,
        Effect.fnUntraced(function* ({ harms, time, title }, index) {
          yield* Console.error(`${title} …`)
          yield* whole
          const { gaps, struck, verdict } = yield* HarmTrial.run(
            { title, harms, time: Duration.seconds(time), perSecond: rate },
            `harm-${index + 1}`
          )
          for (const [number, { from, restored, title }] of struck.entries()) {
            yield* Console.error(
              `  ${title}: no 250 for ${((gaps[number] ?? 0) / 1_000).toFixed(1)} s, restored after ${((restored - from) / 1_000).toFixed(1)} s`
            )
          }
          yield* Effect.forEach(verdict.faults, (fault) => Console.error(`  FAULT ${fault}`))
          yield* Console.error(Report.renderHarms([verdict], ""))
          return verdict
        })
      )
      const table = Report.renderHarms(
        verdicts,
        `${rate} messages a second; ${version}; Node ${process.versions.node}.`
      )
      yield* Console.log(table)
      if (verdicts.some(({ faults }) => faults.length > 0)) {
        return yield* new Disproved({ message: "A guarantee did not hold" })
      }
      if (!write) return
      const text = yield* fs.readFileString(page)
      yield* fs.writeFileString(
        page,
        text.replace(
          /(<!-- cluster -->\n)[\s\S]*?(<!-- end -->)/,
          (_, before, after) => `${before}\n${table}\n\n${after}`
        )
      )
    },
    (effect, { network }) => Effect.provide(effect, [Nodes.layer(network), S3Server.layer])
  )
).pipe(
  Command.run({ version: "1" }),
  Effect.tapErrorTag("Disproved", ({ message }) => Console.error(message)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
