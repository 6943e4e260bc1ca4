import { NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Schema } from "effect"
import { Command } from "effect/cli"
import { HttpClient } from "effect/http"
import * as Ports from "../test/Ports.ts"
import * as Caption from "./Caption.ts"
import { Compiled } from "./Compiled.ts"
import { type Contestant, inbox, inletProcess } from "./Contestants.ts"
import * as Flags from "./Flags.ts"
import { loads, type Measured, measure } from "./Measurement.ts"
import * as Postgres from "./Postgres.ts"
import * as Sink from "./Sink.ts"
import { median, spread } from "./Statistics.ts"
import * as Table from "./Table.ts"

// Compares one process with two that share a database, a folder and a port.

class Unfaithful extends Schema.TaggedError<Unfaithful>()("Unfaithful", { message: Schema.String }) {}

const page = "bench/README.md"

/** Starts a number of processes with all roles on a separate installation. */
const installation = Effect.fnUntraced(function* (server: Postgres.Server, webhook: string, count: number) {
  const fs = yield* FileSystem.FileSystem
  const settings = {
    DATABASE_URL: yield* Postgres.database(server, `inlet_processes_${count}_bench`),
    DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-bench-" }),
    SMTP_PORT: `${yield* Ports.free}`,
    SMTP_REUSE_PORT: "true"
  }
  // Start one after the other: the first one creates the shared secrets.
  const processes = yield* Effect.forEach(Array.from({ length: count }), () => inletProcess(settings))
  const contestant: Contestant = {
    smtpPort: Number(settings.SMTP_PORT),
    recipient: yield* inbox(processes[0]?.url ?? "", webhook),
    processes: processes.map(({ pid }) => pid),
    database: server.postmaster
  }
  return { count, contestant, urls: processes.map(({ url }) => url), rounds: [] as Array<Measured> }
})

/** The number of messages that each process has parsed. */
const read = (urls: ReadonlyArray<string>) =>
  Effect.forEach(
    urls,
    Effect.fnUntraced(function* (url) {
      const client = yield* HttpClient.HttpClient
      const metrics = yield* Effect.flatMap(client.get(`${url}/metrics`), (response) => response.text)
      return metrics
        .split("\n")
        .filter((line) => line.startsWith("inlet_messages_read_total"))
        .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0)
    })
  )

const title = (count: number) => (count === 1 ? "one process" : `${count} processes`)

Command.make(
  "bench:processes",
  {
    messages: Flags.count("messages", 3_000, "Messages in a round"),
    rounds: Flags.count("rounds", 3, "Rounds that count, after one to warm up"),
    write: Flags.write(page)
  },
  Effect.fn(function* (flags) {
    const server = yield* Postgres.required
    const sink = yield* Sink.make
    const installations = yield* Effect.forEach([1, 2], (count) => installation(server, sink.url, count))

    const rows: Array<ReadonlyArray<string>> = []
    const faults: Array<string> = []
    let run = 0
    for (const load of [loads.mixed, loads.reused]) {
      for (const installation of installations) installation.rounds.length = 0
      for (let round = 0; round <= flags.rounds; round++) {
        for (const { contestant, count, rounds } of installations) {
          const measured = yield* measure(contestant, load, sink, { run: run++, messages: flags.messages })
          yield* Console.log(
            `${load.title} ${round}/${flags.rounds}  ${title(count)}: ${measured.delivered.toFixed(0)} delivered/s, ${measured.accepted.toFixed(0)} accepted/s, CPU ${measured.cpu.toFixed(2)} s per 1,000`
          )
          rounds.push(measured)
        }
      }
      // Duplicates may arrive late.
      yield* Effect.sleep("3 seconds")
      const [one] = installations
      for (const { count, rounds } of installations) {
        const counted = rounds.slice(1)
        const of = (field: "delivered" | "accepted" | "replyP50" | "webhookP50" | "cpu" | "peakMegabytes") =>
          counted.map((measured) => measured[field])
        const sum = (field: "missing" | "doubled" | "repeated") =>
          rounds.reduce((all, { webhooks }) => all + webhooks[field](), 0)
        const [lost, doubled, repeated] = [sum("missing"), sum("doubled"), sum("repeated")]
        if (lost + doubled > 0) faults.push(`${title(count)}, ${load.title}: ${lost} lost, ${doubled} doubled`)
        rows.push([
          load.title,
          title(count),
          spread(of("delivered"), 0),
          (median(of("delivered")) / median((one?.rounds ?? []).slice(1).map(({ delivered }) => delivered))).toFixed(2),
          spread(of("accepted"), 0),
          spread(of("replyP50"), 1),
          spread(of("webhookP50"), 1),
          spread(of("cpu"), 2),
          spread(of("peakMegabytes"), 0),
          `${rounds.length * flags.messages}`,
          `${lost}`,
          `${doubled}`,
          `${repeated}`
        ])
      }
    }

    yield* Effect.forEach(installations, ({ count, urls }) =>
      Effect.flatMap(read(urls), (each) => Console.log(`${title(count)} read ${each.join(" and ")} messages`))
    )
    const caption = `${yield* Caption.make(server)}; ${flags.messages.toLocaleString("en")} messages a round, ${flags.rounds} rounds after one to warm up; median (least–most).`
    const head = [
      "load",
      "",
      "delivered/s",
      "÷ one",
      "accepted/s",
      "DATA → 250 p50, ms",
      "DATA → webhook p50, ms",
      "CPU s per 1,000",
      "peak MB together",
      "messages",
      "lost",
      "doubled",
      "repeated"
    ]
    const text = [caption, "", Table.render(head, rows)].join("\n")
    yield* Console.log(`\n${text}`)
    if (flags.write) yield* Table.write(page, "processes", text)
    if (faults.length > 0) return yield* new Unfaithful({ message: faults.join("\n") })
  }, Effect.scoped)
).pipe(
  Command.withDescription("Measures one process of Inlet against two"),
  Command.run({ version: "1" }),
  Effect.provide(Compiled.layer),
  Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici]),
  NodeRuntime.runMain
)
