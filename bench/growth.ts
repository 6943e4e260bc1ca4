import { parseArgs } from "node:util"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path } from "effect"
import * as Patience from "../src/database/Patience.ts"
import * as MailHistory from "../test/MailHistory.ts"
import * as Installation from "./Installation.ts"
import * as ListCost from "./ListCost.ts"
import * as MessageCost from "./MessageCost.ts"
import * as QueueCost from "./QueueCost.ts"
import * as SteadyLoad from "./SteadyLoad.ts"
import * as SweepCost from "./SweepCost.ts"

// Measures the cost of a list, a message and a sweep with few and with many stored events.

const { values: flags } = parseArgs({
  options: {
    sizes: { type: "string", default: "1000,100000,1000000" },
    sweep: { type: "boolean", default: false },
    write: { type: "boolean", default: false }
  }
})
const sizes = flags.sizes.split(",").map(Number)

const bytesOf = Effect.fnUntraced(function* ({ sql }: Installation.Installation, size: number) {
  const rows = yield* sql<{ readonly name: string; readonly heap: number; readonly indexes: number }>`
    SELECT relname AS name, (pg_total_relation_size(oid) - pg_indexes_size(oid))::float8 AS heap,
      pg_indexes_size(oid)::float8 AS indexes
    FROM pg_class WHERE relname = ANY(${[...MailHistory.growing]}::text[]) ORDER BY relname
  `
  return rows.map(({ heap, indexes, name }) => ({ name, heap: heap / size, indexes: indexes / size }))
})

const measure = Effect.fnUntraced(function* (size: number) {
  const sender = yield* SteadyLoad.make
  const own = yield* Installation.make(`inlet_growth_${size}`, sender.url)
  const started = performance.now()
  yield* MailHistory.seed({ domains: own.domains, messages: size, from: 13.9, to: 0.01 }).pipe(
    Effect.provideContext(own.world)
  )
  yield* Console.log(`${size} events seeded in ${((performance.now() - started) / 1_000).toFixed(0)} s`)
  const bytes = yield* Patience.forMuch(bytesOf(own, size))
  const costs = yield* ListCost.measure(own)
  yield* Console.log(
    [...costs]
      .map(([name, { median, p95, pages }]) => `${name}: ${median.toFixed(1)} / ${p95.toFixed(1)} ms, ${pages}`)
      .join("\n")
  )
  const queue = yield* QueueCost.measure(own)
  yield* Console.log(queue)
  const message = yield* MessageCost.measure(own, sender)
  yield* Console.log(message)
  return { size, bytes, costs, message, queue }
}, Effect.scoped)

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const results: Array<Effect.Success<ReturnType<typeof measure>>> = []
  for (const size of sizes) results.push(yield* measure(size))
  const names = [...(results[0]?.costs.keys() ?? [])]
  const cell = (cost: ListCost.Cost | undefined) =>
    cost === undefined ? "" : `${cost.median.toFixed(1)} / ${cost.p95.toFixed(1)} | ${cost.pages.toFixed(0)}`
  const heads = results.map(({ size }) => size.toLocaleString("en"))
  const lines = [
    `| list | ${heads.map((size) => `${size}: ms | pages`).join(" | ")} |`,
    `|---|${heads.map(() => "---|---|").join("")}`,
    ...names.map((name) => `| ${name} | ${results.map(({ costs }) => cell(costs.get(name))).join(" | ")} |`),
    "",
    `| one message | ${heads.join(" | ")} |`,
    `|---|${heads.map(() => "---|").join("")}`,
    `| pages | ${results.map(({ message }) => message.pages.toFixed(0)).join(" | ")} |`,
    `| milliseconds of statements | ${results.map(({ message }) => message.milliseconds.toFixed(2)).join(" | ")} |`,
    `| bytes of write-ahead log | ${results.map(({ message }) => message.log.toFixed(0)).join(" | ")} |`,
    `| delivered per second | ${results.map(({ message }) => message.perSecond.toFixed(0)).join(" | ")} |`,
    "",
    results.at(-1)?.queue ?? "",
    "",
    "| bytes of an event | rows | indexes |",
    "|---|---|---|",
    ...(results.at(-1)?.bytes ?? []).map(
      ({ heap, indexes, name }) => `| ${name} | ${heap.toFixed(0)} | ${indexes.toFixed(0)} |`
    ),
    ...(flags.sweep ? ["", ...(yield* SweepCost.measure(Math.max(...sizes)))] : [])
  ]
  yield* Console.log(lines.join("\n"))
  if (!flags.write) return
  const readme = path.join(import.meta.dirname, "README.md")
  const text = yield* fs.readFileString(readme)
  yield* fs.writeFileString(
    readme,
    text.replace(
      /(<!-- growth -->\n)[\s\S]*?(<!-- end growth -->)/,
      (_, before, after) => `${before}\n${lines.join("\n")}\n\n${after}`
    )
  )
})

program.pipe(Effect.scoped, Effect.provide(NodeServices.layer), NodeRuntime.runMain)
