import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Duration, Effect, FileSystem, Option, Runtime, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { Cluster } from "./Cluster.ts"
import * as Neighbours from "./Neighbours.ts"
import * as Network from "./Network.ts"
import * as PowerCut from "./PowerCut.ts"
import * as Report from "./Report.ts"
import * as Scenarios from "./Scenarios.ts"
import * as Siege from "./Siege.ts"
import * as Trial from "./Trial.ts"

class Disproved extends Schema.TaggedError<Disproved>()("Disproved", { message: Schema.String }) {
  // Its message is printed.
  override readonly [Runtime.errorReported] = false
}

const page = "docs/guarantees.md"

const flags = {
  cluster: Flag.Boolean("cluster").pipe(
    Flag.withDescription("Run the harms to a cluster under Patroni instead, and nothing else. Needs root"),
    Flag.withDefault(false)
  ),
  each: Flag.Int("each").pipe(
    Flag.withDescription("With --cluster: seconds in which a single harm may begin again"),
    Flag.withDefault(60)
  ),
  random: Flag.Int("random").pipe(
    Flag.withDescription("With --cluster: seconds of harms at random"),
    Flag.withDefault(600)
  ),
  seconds: Flag.Int("seconds").pipe(
    Flag.withDescription("Duration of the scenarios with repeated kills of the service and of relays"),
    Flag.withDefault(300)
  ),
  others: Flag.Int("others").pipe(Flag.withDescription("Duration of each other scenario"), Flag.withDefault(100)),
  rate: Flag.Int("rate").pipe(
    Flag.withDescription("Messages started per second: 50 by default, 100 with --cluster"),
    Flag.optional
  ),
  only: Flag.String("only").pipe(
    Flag.withDescription("Run only scenarios whose title contains this"),
    Flag.withDefault("")
  ),
  write: Flag.Boolean("write").pipe(Flag.withDescription(`Writes the table to ${page}`), Flag.withDefault(false))
}

interface Given {
  readonly each: number
  readonly only: string
  readonly others: number
  readonly random: number
  readonly rate: Option.Option<number>
  readonly seconds: number
  readonly write: boolean
}

const usual = Effect.fn(function* ({ only, others, rate: asked, seconds, write }: Given) {
  const rate = Option.getOrElse(asked, () => 50)
  const fs = yield* FileSystem.FileSystem
  const { version } = yield* Cluster
  const scenarios = Scenarios.all.filter(({ title }) => title.includes(only))
  const verdicts = yield* Effect.forEach(
    scenarios,
    Effect.fnUntraced(function* (scenario, index) {
      yield* Console.error(`${scenario.title} …`)
      const time = Duration.seconds(Scenarios.long.includes(scenario) ? seconds : others)
      const verdict = yield* Trial.run(scenario, `mail-${index + 1}`, {
        time,
        perSecond: rate,
        leases: "waited for"
      })
      yield* Effect.forEach(verdict.faults, (fault) => Console.error(`  ${fault}`))
      return verdict
    })
  )
  const sieges = yield* Effect.forEach(
    Siege.all.filter(({ attack }) => attack.title.includes(only)),
    Effect.fnUntraced(function* ({ attack, database }, index) {
      yield* Console.error(`${attack.title} (${database}) …`)
      const verdict = yield* Siege.run(attack, database, `siege_${index + 1}`, Duration.seconds(Math.min(others, 30)))
      yield* Effect.forEach(verdict.faults, (fault) => Console.error(`  ${fault}`))
      return verdict
    })
  )
  const siege = Report.renderSieges(sieges)
  const neighbours = yield* Effect.forEach(
    Neighbours.all.filter(({ scenario }) => `neighbours: ${scenario.title}`.includes(only)),
    Effect.fnUntraced(function* ({ database, scenario }, index) {
      yield* Console.error(`neighbours: ${scenario.title} (${database}) …`)
      const verdict = yield* Neighbours.run(scenario, database, `neighbours_${index + 1}`)
      yield* Effect.forEach(verdict.faults, (fault) => Console.error(`  ${fault}`))
      yield* Console.error(Report.renderNeighbours([verdict]))
      yield* Console.error(`answers to readers of heavy mails: ${JSON.stringify(verdict.answers)}`)
      return verdict
    })
  )
  const beside = Report.renderNeighbours(neighbours)
  const cuts = yield* Effect.forEach(
    "loss of power".includes(only) ? (["embedded", "server"] as const) : [],
    Effect.fnUntraced(function* (database) {
      yield* Console.error(`loss of power, ${database} …`)
      const verdict = yield* PowerCut.run(database, { mails: 60, cuts: 4 })
      yield* Effect.forEach(verdict.broken, (fault) => Console.error(`  ${fault}`))
      return verdict
    })
  )
  const table = Report.render(
    verdicts,
    `${rate} messages a second; ${version} with \`fsync\` on; Node ${process.versions.node}; sender, receiver and database on the machine of the service.`
  )
  const power = Report.renderCuts(cuts)
  // Of what ran.
  for (const [text, { length }] of [
    [table, verdicts],
    [siege, sieges],
    [beside, neighbours],
    [power, cuts]
  ] as const) {
    if (length > 0) yield* Console.log(text)
  }
  const isLost = cuts.some(({ broken, cuts }) => broken.length > 0 || cuts.some(({ lost }) => lost.length > 0))
  if (isLost || [...verdicts, ...sieges, ...neighbours].some(({ faults }) => faults.length > 0)) {
    return yield* new Disproved({ message: "A guarantee did not hold" })
  }
  if (!write) return
  const text = yield* fs.readFileString(page)
  const put = (page: string, name: string, table: string) =>
    page.replace(
      new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`),
      (_, before, after) => `${before}\n${table}\n\n${after}`
    )
  const proven = verdicts.length > 0 ? put(text, "prove", table) : text
  const besieged = sieges.length > 0 ? put(proven, "siege", siege) : proven
  const shared = neighbours.length > 0 ? put(besieged, "neighbours", beside) : besieged
  yield* fs.writeFileString(page, cuts.length > 0 ? put(shared, "power", power) : shared)
}, Effect.provide(Cluster.layer))

const overCluster = ({ each, only, random, rate, write }: Given) =>
  Network.prove([
    ...["--each", `${each}`, "--random", `${random}`, "--only", only],
    ...["--rate", `${Option.getOrElse(rate, () => 100)}`, ...(write ? ["--write"] : [])]
  ])

Command.make(
  "prove",
  flags,
  Effect.fn(function* ({ cluster, ...given }) {
    yield* cluster ? overCluster(given) : usual(given)
  })
).pipe(
  Command.withDescription("Injects faults into a running service under load, and counts lost mail"),
  Command.run({ version: "1" }),
  Effect.tapErrorTag(["Disproved", "ClusterFailed"], ({ message }) => Console.error(message)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
