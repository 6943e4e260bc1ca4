import { NodeRuntime } from "@effect/platform-node"
import { ConfigProvider, Console, Effect, FileSystem, Layer } from "effect"
import { Command } from "effect/cli"
import * as Database from "../src/database/Database.ts"
import { DeliveryQueue } from "../src/delivery/DeliveryQueue.ts"
import { EventFeed } from "../src/delivery/EventFeed.ts"
import { Handover } from "../src/delivery/Handover.ts"
import { WebhookSender } from "../src/delivery/WebhookSender.ts"
import * as Platform from "../src/process/Platform.ts"
import * as Providers from "../src/providers/Providers.ts"
import { Workspaces } from "../src/workspaces/Workspaces.ts"
import * as Caption from "./Caption.ts"
import * as Flags from "./Flags.ts"
import * as HotPath from "./HotPath.ts"
import * as Postgres from "./Postgres.ts"
import * as ProcessUsage from "./ProcessUsage.ts"
import * as Sink from "./Sink.ts"
import { median, spread } from "./Statistics.ts"
import * as Table from "./Table.ts"

// Measures each step of the work alone, with the product's code and an otherwise idle machine.

const page = "bench/README.md"

interface Timed {
  /** Microseconds for each run, elapsed and of CPU. */
  readonly clock: number
  readonly node: number
  readonly postgres: number
}

const services = (server: Postgres.Server) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const env = {
        DATABASE_URL: yield* Postgres.database(server, "inlet_parts_bench"),
        DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-bench-" }),
        DNS_SERVERS: "127.0.0.1:9"
      }
      return Layer.mergeAll(DeliveryQueue.layer, WebhookSender.layer, Workspaces.layer).pipe(
        Layer.provideMerge([EventFeed.layer, Handover.layerNone]),
        Layer.provideMerge(Providers.layer),
        Layer.provideMerge(Database.layer),
        Layer.provideMerge(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
      )
    })
  )

const time = Effect.fnUntraced(function* ({ atATime, count, once, prepare }: HotPath.Part, postmaster: number) {
  if (prepare !== undefined) yield* prepare(count)
  const postgresBefore = yield* ProcessUsage.cpuSeconds([postmaster])
  const cpuBefore = process.cpuUsage()
  const started = performance.now()
  yield* Effect.forEach(
    Array.from({ length: count }, (_, number) => number),
    once,
    {
      concurrency: atATime,
      discard: true
    }
  )
  const clock = ((performance.now() - started) * 1_000) / count
  const { system, user } = process.cpuUsage(cpuBefore)
  const postgres = ((yield* ProcessUsage.cpuSeconds([postmaster])) - postgresBefore) * 1_000_000
  const timed: Timed = { clock, node: (user + system) / count, postgres: postgres / count }
  return timed
})

const measure = Effect.fnUntraced(function* (
  server: Postgres.Server,
  flags: { readonly count: number; readonly rounds: number }
) {
  const sink = yield* Sink.make
  const parts = yield* HotPath.make(sink.url, flags.count)
  const results = parts.map(() => [] as Array<Timed>)
  // The first round warms up and does not count.
  for (let round = 0; round <= flags.rounds; round++) {
    for (const [index, part] of parts.entries()) {
      const timed = yield* time(part, server.postmaster)
      yield* Console.log(
        `${round}/${flags.rounds}  ${part.name}, ${part.atATime} at a time: ${timed.clock.toFixed(0)} µs`
      )
      if (round > 0) results[index]?.push(timed)
    }
  }
  const rows = parts.map(({ atATime, name }, index) => {
    const own = results[index] ?? []
    const of = (field: keyof Timed) => own.map((timed) => timed[field])
    return [
      name,
      `${atATime}`,
      (1_000_000 / median(of("clock"))).toFixed(0),
      spread(of("clock"), 0),
      median(of("node")).toFixed(0),
      median(of("postgres")).toFixed(0)
    ]
  })
  const head = ["part", "at a time", "per second", "µs each", "CPU of Node, µs", "CPU of PostgreSQL, µs"]
  const caption = `${yield* Caption.make(server)}; ${flags.count} of each in a round, ${flags.rounds} rounds after one to warm up; median (least–most).`
  return [caption, "", Table.render(head, rows)].join("\n")
})

Command.make(
  "bench:parts",
  {
    count: Flags.count("count", 500, "Runs of each part in a round"),
    rounds: Flags.count("rounds", 3, "Rounds that count, after one to warm up"),
    write: Flags.write(page)
  },
  Effect.fn(function* (flags) {
    const server = yield* Postgres.required
    const text = yield* measure(server, flags).pipe(Effect.provide(services(server)))
    yield* Console.log(`\n${text}`)
    if (flags.write) yield* Table.write(page, "parts", text)
  }, Effect.scoped)
).pipe(
  Command.withDescription("Measures each step of the work alone"),
  Command.run({ version: "1" }),
  Effect.provide(Platform.layer),
  NodeRuntime.runMain
)
