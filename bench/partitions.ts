import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Fiber } from "effect"
import { Command } from "effect/cli"
import * as MailHistory from "../test/MailHistory.ts"
import * as Flags from "./Flags.ts"
import * as Installation from "./Installation.ts"
import * as PartitionTrial from "./PartitionTrial.ts"
import { percentile } from "./Statistics.ts"
import * as SteadyLoad from "./SteadyLoad.ts"
import * as Table from "./Table.ts"

const page = "bench/README.md"

/** Measures mail on plain tables, while they become partitions, and while days of different sizes are dropped. */
const measure = Effect.fnUntraced(function* (size: number) {
  const sender = yield* SteadyLoad.make
  const own = yield* Installation.make("inlet_partitions", sender.url)
  yield* MailHistory.seed({ domains: own.domains, messages: size, from: 13.9, to: 0.01 }).pipe(
    Effect.provideContext(own.world)
  )
  const { port, stop } = yield* Installation.process(own, {})
  let runs = 0
  const send = Effect.suspend(() =>
    sender.run({
      port,
      recipient: "user3@customer5.example",
      messages: 500,
      pace: { everyMillis: 20 },
      run: `partitions-${runs++}`
    })
  )
  /** Sends for 10 s. The work begins after 2 s. */
  const beside = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const working = yield* Effect.forkScoped(Effect.delay(work, "2 seconds"))
      const times = yield* send
      return { times, result: yield* Fiber.join(working) }
    })
  const of = (values: ReadonlyArray<number>) =>
    `${percentile(values, 0.5).toFixed(1)} / ${percentile(values, 0.99).toFixed(1)}`
  const row = (name: string, { toReply, toWebhook }: SteadyLoad.Times, took?: { total: number; locked: number }) => [
    name,
    took === undefined ? "" : `${(took.total / 1_000).toFixed(2)} s`,
    took === undefined ? "" : `${took.locked.toFixed(0)} ms`,
    `${toReply.length}`,
    of(toReply),
    of(toWebhook)
  ]
  const events = (count: number) => `${count.toLocaleString("en")} events`

  yield* send
  const rows = [row("plain tables", yield* send)]
  const moved = yield* beside(PartitionTrial.move(own))
  rows.push(row(`${events(size)} become a partition`, moved.times, moved.result), row("with it", yield* send))
  const days = [size / 10, size]
  for (const [index, count] of days.entries()) yield* PartitionTrial.addDay(own, index, count)
  rows.push(row("with three", yield* send))
  for (const [index, count] of days.entries()) {
    const dropped = yield* beside(PartitionTrial.dropDay(own, index))
    rows.push(row(`a day of ${events(count)} is dropped`, dropped.times, dropped.result))
  }
  yield* stop
  const head = ["", "took", "under a lock", "mails", "DATA → 250, p50 / p99 ms", "DATA → webhook, p50 / p99 ms"]
  return Table.render(head, rows)
}, Effect.scoped)

Command.make(
  "partitions",
  {
    events: Flags.count("events", 1_000_000, "Events in the tables, and in the largest day"),
    write: Flags.write(page)
  },
  Effect.fn(function* ({ events, write }) {
    const text = yield* measure(events)
    yield* Console.log(text)
    if (write) yield* Table.write(page, "partitions", text)
  })
).pipe(
  Command.withDescription("Tries partitions by day, which Inlet does not have, under mail"),
  Command.run({ version: "1" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
