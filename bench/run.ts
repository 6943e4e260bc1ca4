import { NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Console, Effect, Exit, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as Caption from "./Caption.ts"
import { Compiled } from "./Compiled.ts"
import * as Contestants from "./Contestants.ts"
import * as Flags from "./Flags.ts"
import { type Load, loads, type Measured, measure } from "./Measurement.ts"
import * as Postgres from "./Postgres.ts"
import * as Results from "./Results.ts"
import * as Sink from "./Sink.ts"
import * as Table from "./Table.ts"

// Contestants run alternately on one machine, and only ratios are compared, because the speed of a shared machine
// drifts.

class Incomplete extends Schema.TaggedError<Incomplete>()("Incomplete", { message: Schema.String }) {}

const page = "bench/README.md"

// Object.keys loses the key type.
const keys = Object.keys(Contestants.all) as ReadonlyArray<Contestants.Key>

const told = (cause: Cause.Cause<unknown>) => Cause.prettyErrors(cause).map(({ message }) => message)[0] ?? "failed"

const line = (measured: Measured) =>
  [
    `${measured.delivered.toFixed(0)} delivered/s`,
    `${measured.accepted.toFixed(0)} accepted/s`,
    `DATA → 250 ${measured.replyP50.toFixed(1)} / ${measured.replyP99.toFixed(1)} ms`,
    `→ webhook ${measured.webhookP50.toFixed(1)} / ${measured.webhookP99.toFixed(1)} ms`,
    `CPU ${measured.cpu.toFixed(2)} s per 1,000`,
    `${measured.peakMegabytes.toFixed(0)} MB`
  ].join(", ")

Command.make(
  "bench",
  {
    messages: Flags.count("messages", 3_000, "Messages in a round"),
    rounds: Flags.count("rounds", 3, "Rounds that count, after one to warm up"),
    seconds: Flags.count("seconds", 15, "Duration of a round of the steady load"),
    only: Flags.some("only", keys, "Only these contestants"),
    load: Flags.some("load", Results.loadNames, "Only these loads"),
    profile: Flag.Directory("profile").pipe(
      Flag.withDescription("Writes a CPU profile of Inlet's main thread to this folder"),
      Flag.optional
    ),
    against: Flag.Directory("against").pipe(
      Flag.withDescription("Measures the checkout in this folder, too, to compare two versions"),
      Flag.optional
    ),
    write: Flags.write(page)
  },
  Effect.fn(function* (flags) {
    const sink = yield* Sink.make
    const postgres = yield* Postgres.server
    const against = Option.getOrUndefined(flags.against)
    const world = { webhook: sink.url, postgres, profile: Option.getOrUndefined(flags.profile), against }
    const faults: Array<string> = []
    const fault = (text: string) => {
      faults.push(text)
      return Console.error(text)
    }

    const contestants: Array<{ readonly key: Contestants.Key; readonly contestant: Contestants.Contestant }> = []
    for (const key of flags.only.filter((key) => key !== "against" || against !== undefined)) {
      const { name, start } = Contestants.all[key]
      const started = yield* Effect.exit(start(world))
      if (Exit.isSuccess(started)) contestants.push({ key, contestant: started.value })
      else yield* fault(`${name}: ${told(started.cause)}`)
    }

    const results: Results.Results = { mixed: {}, reused: {}, small: {}, steady: {} }
    let run = 0
    for (const name of flags.load) {
      const load: Load = loads[name]
      const messages = "perSecond" in load.shape ? load.shape.perSecond * flags.seconds : flags.messages
      // The first round warms up and does not count.
      for (let round = 0; round <= flags.rounds; round++) {
        for (const { contestant, key } of contestants) {
          const label = `${name} ${round}/${flags.rounds}  ${Contestants.all[key].name}:`
          const measured = yield* Effect.exit(measure(contestant, load, sink, { run: run++, messages }))
          if (Exit.isFailure(measured)) {
            yield* fault(`${label} ${told(measured.cause)}`)
            continue
          }
          yield* Console.log(`${label} ${line(measured.value)}`)
          results[name][key] = [...(results[name][key] ?? []), ...(round > 0 ? [measured.value] : [])]
        }
      }
    }

    const caption = [
      `${yield* Caption.make(postgres)}; ${flags.messages.toLocaleString("en")} messages a round`,
      `(steady: ${flags.seconds} s), ${flags.rounds} rounds; median (least–most).`
    ].join(" ")
    const tables = [caption, "", ...Results.tables(results, flags.only)].join("\n").trimEnd()
    const targets = [caption, "", Results.targets(results)].join("\n")
    yield* Console.log(`\n${tables}\n\n${targets}`)
    if (flags.write) {
      yield* Table.write(page, "results", tables)
      yield* Table.write(page, "targets", targets)
    }
    if (faults.length > 0) return yield* new Incomplete({ message: faults.join("\n") })
  }, Effect.scoped)
).pipe(
  Command.withDescription("Compares mail servers that post to a webhook"),
  Command.run({ version: "1" }),
  Effect.provide(Compiled.layer),
  Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici]),
  NodeRuntime.runMain
)
