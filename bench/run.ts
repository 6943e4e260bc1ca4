import { NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Config, Console, Effect, FileSystem, Option, Path, Redacted, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ChildProcess } from "effect/process"
import { Reactivity } from "effect/reactivity"
import * as Ports from "../test/Ports.ts"
import * as LoadGenerator from "./LoadGenerator.ts"
import { message } from "./Messages.ts"
import * as Sink from "./Sink.ts"

// Everything runs in one go on one machine, the contestants in turn, and
// only ratios are compared: such a machine is shared and its speed drifts.

const rounds = 3
const messages = 1_500
const loads = [
  { name: "connection per message, 100 at once", concurrency: 100, messagesPerConnection: 1 },
  { name: "50 messages per connection, 20 at once", concurrency: 20, messagesPerConnection: 50 }
]

interface Contestant {
  readonly name: string
  readonly smtpPort: number
  readonly recipient: string
}

/** Starts a process and waits until it prints `ready`. It ends with the scope. */
const start = Effect.fnUntraced(function* (script: ReadonlyArray<string>, env: Record<string, string>, ready: string) {
  const child = yield* ChildProcess.make(process.execPath, script, { env, extendEnv: true, stderr: "inherit" })
  yield* Stream.decodeText(child.stdout).pipe(
    Stream.splitLines,
    Stream.takeUntil((line) => line.includes(ready)),
    Stream.runDrain,
    Effect.timeout("60 seconds")
  )
  // What it prints from now on is read and dropped, so that it never waits for us.
  yield* Effect.forkScoped(Effect.ignore(Stream.runDrain(child.stdout)))
})

const plain = Effect.fnUntraced(function* (webhook: string) {
  const port = yield* Ports.free
  yield* start(["bench/contestants/plain.mjs", `${port}`, webhook], {}, "listening")
  return { name: "smtp-server + simpleParser + fetch, nothing stored", smtpPort: port, recipient: "a@bench.example" }
})

const durable = Effect.fnUntraced(function* (webhook: string, database: string) {
  const fs = yield* FileSystem.FileSystem
  const port = yield* Ports.free
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-bench-" })
  yield* start(["bench/contestants/durable.mjs", `${port}`, webhook, database, folder], {}, "listening")
  return { name: "the same, durable: file, fsync, one INSERT", smtpPort: port, recipient: "a@bench.example" }
})

const inlet = Effect.fnUntraced(function* (name: string, webhook: string, settings: Record<string, string>) {
  const fs = yield* FileSystem.FileSystem
  const http = yield* Ports.free
  const smtp = yield* Ports.free
  yield* start(
    ["src/main.ts"],
    {
      HTTP_PORT: `${http}`,
      SMTP_PORT: `${smtp}`,
      DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-bench-" }),
      MAX_EMAILS_PER_DAY: "0",
      LOG_FORMAT: "pretty",
      LOG_LEVEL: "warn",
      // Nobody answers there: senders are checked, and no question leaves this machine.
      DNS_SERVERS: "127.0.0.1:9",
      ...settings
    },
    "SMTP "
  )
  const client = yield* HttpClient.HttpClient
  const ask = (method: "POST" | "PATCH", path: string, key: string, body: unknown) =>
    HttpClientRequest.make(method)(`http://127.0.0.1:${http}${path}`).pipe(
      HttpClientRequest.bearerToken(key),
      HttpClientRequest.bodyJsonUnsafe(body),
      client.execute,
      Effect.flatMap((response) => response.json),
      // The benchmark has just started this service and knows its answers.
      Effect.map((json) => json as Record<string, string>)
    )
  const { api_key: key = "" } = yield* ask("POST", "/api/workspaces", "", { name: "bench" })
  const { address = "", domain_id: id } = yield* ask("POST", "/api/instant-inbox", key, {})
  yield* ask("PATCH", `/api/domains/${id}/delivery`, key, { webhookUrl: webhook })
  return { name, smtpPort: smtp, recipient: address }
})

/** A database of the benchmark's own on the PostgreSQL at BENCH_DATABASE_URL. */
const postgres = Effect.fnUntraced(function* (name: string) {
  const server = yield* Config.option(Config.Redacted("BENCH_DATABASE_URL"))
  if (Option.isNone(server)) return undefined
  const admin = yield* PgClient.make({ url: server.value, maxConnections: 1 }).pipe(Effect.provide(Reactivity.layer))
  yield* Effect.acquireRelease(
    Effect.andThen(admin.unsafe(`DROP DATABASE IF EXISTS ${name}`), admin.unsafe(`CREATE DATABASE ${name}`)),
    () => Effect.ignore(admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  const url = new URL(Redacted.value(server.value))
  url.pathname = `/${name}`
  return url.href
})

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const percentile = (values: ReadonlyArray<number>, share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const sink = yield* Sink.make
  const database = yield* postgres("inlet_bench")
  const plainDatabase = yield* postgres("plain_bench")
  const contestants: ReadonlyArray<Contestant> = [
    yield* plain(sink.url),
    ...(plainDatabase === undefined ? [] : [yield* durable(sink.url, plainDatabase)]),
    yield* inlet("Inlet, embedded database", sink.url, {}),
    ...(database === undefined ? [] : [yield* inlet("Inlet, PostgreSQL", sink.url, { DATABASE_URL: database })])
  ]

  const measure = Effect.fnUntraced(function* (contestant: Contestant, load: (typeof loads)[number], run: string) {
    const arrived = yield* sink.expect(messages)
    const started = performance.now()
    const { accepted, replyTimes } = yield* LoadGenerator.run({
      ...load,
      port: contestant.smtpPort,
      recipient: contestant.recipient,
      messages,
      message: (number) => message(number, run, contestant.recipient)
    })
    const acceptedAfter = performance.now() - started
    const all = yield* Effect.timeoutOption(arrived, "60 seconds")
    const deliveredAfter = performance.now() - started
    const delivered = yield* sink.received
    if (accepted !== messages || Option.isNone(all)) {
      yield* Console.error(`${contestant.name}: ${accepted} accepted, ${delivered} delivered of ${messages}`)
    }
    return {
      accepted: (accepted / acceptedAfter) * 1_000,
      delivered: (delivered / deliveredAfter) * 1_000,
      p50: percentile(replyTimes, 0.5),
      p99: percentile(replyTimes, 0.99)
    }
  })

  const lines: Array<string> = []
  for (const load of loads) {
    const results = contestants.map(() => [] as Array<Effect.Success<ReturnType<typeof measure>>>)
    // A first round warms everything up and is not counted.
    for (let round = 0; round <= rounds; round++) {
      for (const [index, contestant] of contestants.entries()) {
        const result = yield* measure(contestant, load, `${load.concurrency}-${round}-${index}`)
        if (round > 0) results[index]?.push(result)
        yield* Console.log(
          `${load.name}: ${contestant.name}: ${result.accepted.toFixed(0)} accepted/s, ${result.delivered.toFixed(0)} delivered/s`
        )
      }
    }
    const first = median((results[0] ?? []).map(({ delivered }) => delivered))
    lines.push(
      `### ${load.name}`,
      "",
      "| contestant | accepted/s | delivered/s | end to end, ratio | DATA → 250, p50 / p99 ms |",
      "|---|---|---|---|---|",
      ...contestants.map(({ name }, index) => {
        const own = results[index] ?? []
        const of = (field: "accepted" | "delivered" | "p50" | "p99") => median(own.map((result) => result[field]))
        return `| ${name} | ${of("accepted").toFixed(0)} | ${of("delivered").toFixed(0)} | ${(of("delivered") / first).toFixed(2)} | ${of("p50").toFixed(1)} / ${of("p99").toFixed(1)} |`
      }),
      ""
    )
  }

  const readme = path.join(import.meta.dirname, "README.md")
  const text = yield* fs.readFileString(readme)
  yield* fs.writeFileString(
    readme,
    text.replace(
      /(<!-- results -->\n)[\s\S]*?(<!-- end -->)/,
      (_, before, after) => `${before}\n${lines.join("\n")}\n${after}`
    )
  )
  yield* Console.log(lines.join("\n"))
})

program.pipe(Effect.scoped, Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici]), NodeRuntime.runMain)
