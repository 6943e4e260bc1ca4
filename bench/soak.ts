import { NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as Ports from "../test/Ports.ts"
import * as Caption from "./Caption.ts"
import { Compiled } from "./Compiled.ts"
import { type Contestant, ContestantFailed, inbox, inletProcess } from "./Contestants.ts"
import * as Flags from "./Flags.ts"
import * as Inspector from "./Inspector.ts"
import * as LoadGenerator from "./LoadGenerator.ts"
import { measure } from "./Measurement.ts"
import * as Messages from "./Messages.ts"
import * as Postgres from "./Postgres.ts"
import * as ProcessUsage from "./ProcessUsage.ts"
import * as Sink from "./Sink.ts"
import { median, percentile } from "./Statistics.ts"
import * as Table from "./Table.ts"

// Measures what a process retains as mail accumulates. Stored events belong to the database and do not count.

class Growing extends Schema.TaggedError<Growing>()("Growing", { message: Schema.String }) {}

const page = "bench/README.md"

const load = {
  title: "soak",
  mix: Messages.mostlySmall,
  shape: { connections: 20, messagesPerConnection: 50 }
}

const columns = {
  rss: "RSS MB",
  heap: "heap MB",
  external: "external MB",
  fibers: "fibers",
  listeners: "listeners",
  sockets: "sockets",
  timers: "timers",
  descriptors: "open files",
  connections: "PostgreSQL connections"
}

// Object.keys loses the key type.
const names = Object.keys(columns) as ReadonlyArray<keyof typeof columns>

type Sample = Readonly<Record<keyof typeof columns, number>>

/** Memory is steady within 10 % of its median. */
const isSteady = (values: ReadonlyArray<number>) =>
  values.every((value) => Math.abs(value - median(values)) <= 0.1 * median(values))

/** Counts are steady if the maximum of the second half exceeds that of the first by at most 10 % or 2. */
const growsNot = (values: ReadonlyArray<number>) => {
  const half = Math.ceil(values.length / 2)
  const before = Math.max(...values.slice(0, half))
  return Math.max(...values.slice(half)) <= before + Math.max(0.1 * before, 2)
}

const memory: ReadonlyArray<keyof typeof columns> = ["rss", "heap", "external"]

/** Accepted messages per second. */
const accept = Effect.fnUntraced(function* (contestant: Contestant, run: number, messages: number) {
  const started = performance.now()
  const { acceptedAt } = yield* LoadGenerator.closedLoop(contestant, { run, messages, mix: load.mix }, load.shape)
  const accepted = acceptedAt.filter((at) => at > 0).length
  if (accepted < messages) {
    return yield* new ContestantFailed({ message: `accepted ${accepted} of ${messages} messages` })
  }
  return (messages * 1_000) / (percentile(acceptedAt, 1) - started)
})

Command.make(
  "bench:soak",
  {
    messages: Flags.count("messages", 100_000, "Total messages. The process is inspected ten times"),
    backlog: Flag.Boolean("backlog").pipe(
      Flag.withDescription("Use a webhook that never answers, so that due deliveries accumulate"),
      Flag.withDefault(false)
    ),
    write: Flags.write(page)
  },
  Effect.fn(function* (flags) {
    const server = yield* Postgres.required
    const sink = yield* Sink.make
    const database = yield* Postgres.database(server, "inlet_soak_bench")
    const inspector = yield* Ports.free
    const inlet = yield* inletProcess({ DATABASE_URL: database }, [`--inspect=127.0.0.1:${inspector}`])
    const inspected = yield* Inspector.attach(inspector)
    const contestant = {
      smtpPort: inlet.smtpPort,
      recipient: yield* inbox(inlet.url, flags.backlog ? `http://127.0.0.1:${yield* Ports.free}/` : sink.url),
      processes: [inlet.pid],
      database: server.postmaster
    }

    const step = Math.ceil(flags.messages / 10)
    const samples: Array<Sample> = []
    const rows: Array<ReadonlyArray<string>> = []
    for (let run = 0; run < 10; run++) {
      const perSecond = flags.backlog
        ? yield* accept(contestant, run, step)
        : (yield* measure(contestant, load, sink, { run, messages: step })).delivered
      // Idle connections to the webhook close after some seconds.
      yield* Effect.sleep("8 seconds")
      const held = yield* inspected.held
      const sample: Sample = {
        rss: yield* ProcessUsage.residentMegabytes([inlet.pid]),
        heap: held.heapMegabytes,
        external: held.externalMegabytes,
        fibers: held.fibers,
        listeners: held.listeners,
        sockets: held.sockets,
        timers: held.timers,
        descriptors: yield* ProcessUsage.openDescriptors(inlet.pid),
        connections: yield* Postgres.connections(database)
      }
      samples.push(sample)
      rows.push([
        ((run + 1) * step).toLocaleString("en"),
        perSecond.toFixed(0),
        ...names.map((name) => sample[name].toFixed(0))
      ])
      yield* Console.log(
        `${rows.at(-1)?.[0]}: ${names.map((name) => `${sample[name].toFixed(0)} ${columns[name]}`).join(", ")}`
      )
    }

    // The first 20 % warm up.
    const settled = samples.slice(1)
    const growing = names.filter((name) => {
      const values = settled.map((sample) => sample[name])
      return !(memory.includes(name) ? isSteady(values) : growsNot(values))
    })
    rows.push(["flat", "", ...names.map((name) => (growing.includes(name) ? "no" : "yes"))])
    const text = [
      `${yield* Caption.make(server)}. Flat, from the second row on: memory within 10 % of its median; of the rest the most of the second half not above that of the first by more than 10 %, or two.`,
      "",
      Table.render(
        ["messages", flags.backlog ? "accepted/s" : "delivered/s", ...names.map((name) => columns[name])],
        rows
      )
    ].join("\n")
    yield* Console.log(`\n${text}`)
    if (flags.write) yield* Table.write(page, flags.backlog ? "backlog" : "soak", text)
    if (growing.length > 0) {
      return yield* new Growing({ message: `Not flat: ${growing.map((name) => columns[name]).join(", ")}` })
    }
  }, Effect.scoped)
).pipe(
  Command.withDescription("Sends mail to one process of Inlet and measures what it retains"),
  Command.run({ version: "1" }),
  Effect.provide(Compiled.layer),
  Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici]),
  NodeRuntime.runMain
)
