import { Agent, get } from "node:http"
import { parseArgs } from "node:util"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Config, Console, Context, Effect, FileSystem, Layer, Path, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import * as Database from "../src/Database.ts"
import * as InletProcess from "../test/InletProcess.ts"
import * as MailHistory from "../test/MailHistory.ts"
import * as StatementPlans from "../test/StatementPlans.ts"
import * as SteadyLoad from "./SteadyLoad.ts"

// What a list, a message and a sweep cost beside few stored events and beside many.

const { values: flags } = parseArgs({
  options: {
    sizes: { type: "string", default: "1000,100000,1000000" },
    sweep: { type: "boolean", default: false },
    write: { type: "boolean", default: false }
  }
})
const sizes = flags.sizes.split(",").map(Number)

const timedRequests = 40
const explainedRequests = 7
const hotMessages = 1_000

const percentile = (values: ReadonlyArray<number>, share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

/** A database of the benchmark's own on the PostgreSQL at BENCH_DATABASE_URL, with a client for it. */
const database = Effect.fnUntraced(function* (name: string) {
  const server = yield* Config.Redacted("BENCH_DATABASE_URL")
  // With a connection of its own each time: one that has been idle for long may be gone.
  const tell = (statement: string) =>
    PgClient.make({ url: server, maxConnections: 1 }).pipe(
      Effect.flatMap((admin) => admin.unsafe(statement)),
      Effect.provide(Reactivity.layer),
      Effect.scoped
    )
  const drop = tell(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  yield* Effect.acquireRelease(Effect.andThen(drop, tell(`CREATE DATABASE ${name}`)), () => Effect.orDie(drop))
  const url = new URL(Redacted.value(server))
  url.pathname = `/${name}`
  const world = yield* Layer.build(
    Database.migrations.pipe(Layer.provideMerge(Database.layerPostgres(Redacted.make(url.href))))
  )
  return { url, sql: Context.get(world, SqlClient.SqlClient), world }
})

/** Ten workspaces with five live domains each, and the settings of processes that serve them. */
const installation = Effect.fnUntraced(function* (name: string, webhook: string) {
  const fs = yield* FileSystem.FileSystem
  const { sql, url, world } = yield* database(name)
  const settings = {
    DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-bench-" }),
    DATABASE_URL: url.href,
    ADMIN_TOKEN: "operator",
    SECRETS_KEY: Buffer.alloc(32, 5).toString("base64"),
    SMTP_MAX_CONNECTIONS_PER_IP: "0"
  }
  const api = yield* InletProcess.start({ ...settings, ROLES: "http" })
  const keys: Array<string> = []
  const domains: Array<string> = []
  for (let workspace = 0; workspace < 10; workspace++) {
    const { json } = yield* api.call("POST", "/api/workspaces", { body: { name: "growth" } })
    keys.push(json.api_key)
    const rows = yield* sql<{ readonly id: string }>`
      INSERT INTO domains (id, workspace_id, name, origin, status, verified_at, live_at, webhook_url)
      SELECT gen_random_uuid(), ${json.workspace_id}, 'customer' || (${workspace}::int * 5 + number) || '.example',
        'byo', 'live', now(), now(), ${webhook}
      FROM generate_series(0, 4) AS number RETURNING id
    `
    domains.push(...rows.map(({ id }) => id))
  }
  return { sql, world, url, settings, api, domains, key: keys[0] ?? "", large: domains[0] ?? "" }
})

type Installation = Effect.Success<ReturnType<typeof installation>>

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Milliseconds that a request took, its body included. */
const timed = (url: string, key: string) =>
  Effect.callback<number>((resume) => {
    const started = performance.now()
    get(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
      response.on("data", () => {})
      response.on("end", () =>
        resume(
          response.statusCode === 200
            ? Effect.succeed(performance.now() - started)
            : Effect.die(new Error(`${url} answered ${response.statusCode}`))
        )
      )
    }).on("error", (error) => resume(Effect.die(error)))
  })

/** Every list, with each filter, at its beginning and deep in it. */
const lists = Effect.fnUntraced(function* ({ large, sql }: Installation) {
  const at = Effect.fnUntraced(function* (share: number, status = "delivered") {
    const [row] = yield* sql<{ readonly id: string; readonly attempt: string; readonly receivedAt: Date }>`
      SELECT events.id, delivery_attempts.id AS attempt, events.received_at
      FROM events JOIN deliveries ON deliveries.event_id = events.id
      JOIN delivery_attempts ON delivery_attempts.event_id = events.id
      WHERE events.domain_id = ${large} AND deliveries.status = ${status} AND events.position
        >= (SELECT position * ${share}::float8 FROM event_positions WHERE domain_id = ${large})
      ORDER BY events.position LIMIT 1
    `
    return row ?? (yield* Effect.die(new Error("no event is stored there")))
  })
  const deep = yield* at(0.1)
  const middle = yield* at(0.5)
  const recent = yield* at(0.9)
  const dead = yield* at(0.5, "dead")
  const recipient = "recipient=user3@customer0.example"
  const sender = "from=sender7@shop0.example"
  const time = ({ receivedAt }: { readonly receivedAt: Date }) => receivedAt.toISOString()
  const events = {
    newest: "",
    "deep cursor": `cursor=${deep.id}`,
    after: `after=${recent.id}`,
    recipient: recipient,
    "recipient, deep cursor": `${recipient}&cursor=${middle.id}`,
    sender: sender,
    "sender, deep cursor": `${sender}&cursor=${middle.id}`,
    since: `since=${time(recent)}`,
    until: `until=${time(deep)}`,
    "since and until": `since=${time(deep)}&until=${time(middle)}`,
    "recipient and until": `${recipient}&until=${time(middle)}`,
    delivered: "delivery=delivered",
    "delivered, deep cursor": `delivery=delivered&cursor=${deep.id}`,
    dead: "delivery=dead",
    "dead, deep cursor": `delivery=dead&cursor=${dead.id}`,
    "dead of a recipient": `delivery=dead&${recipient}`,
    "dead from a sender": `delivery=dead&${sender}`,
    "dead until": `delivery=dead&until=${time(middle)}`,
    pending: "delivery=pending",
    "pending of a recipient": `delivery=pending&${recipient}`,
    held: "delivery=held"
  }
  const of = `/api/domains/${large}`
  return {
    ...Object.fromEntries(
      Object.entries(events).map(([name, query]) => [`events: ${name}`, `${of}/events?limit=20&${query}`])
    ),
    "one event": `${of}/events/${deep.id}`,
    "attempts: newest": `${of}/delivery-attempts?limit=20`,
    "attempts: deep cursor": `${of}/delivery-attempts?limit=20&cursor=${deep.attempt}`,
    "attempts: of an event": `${of}/delivery-attempts?limit=20&event_id=${dead.id}`,
    domains: "/api/domains",
    wallet: "/api/domains/wallet"
  }
})

interface Cost {
  readonly median: number
  readonly p95: number
  readonly pages: number
}

const pagesOf = ({ plan }: StatementPlans.Executed) =>
  (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0)

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const explaining = {
  "auto_explain.log_analyze": "on",
  "auto_explain.log_buffers": "on",
  "auto_explain.log_timing": "off"
}

const measureLists = Effect.fnUntraced(function* (own: Installation) {
  const plans = yield* StatementPlans.before(own.url, explaining)
  const explained = yield* InletProcess.start({ ...own.settings, ROLES: "http", DATABASE_URL: plans.url })
  const costs = new Map<string, Cost>()
  for (const [name, path] of Object.entries(yield* lists(own))) {
    // The first are slower, and from the sixth on PostgreSQL may keep a plan.
    for (let warm = 0; warm < 8; warm++) yield* timed(own.api.url + path, own.key)
    const times: Array<number> = []
    for (let request = 0; request < timedRequests; request++) times.push(yield* timed(own.api.url + path, own.key))
    const pages: Array<number> = []
    for (let request = 0; request < explainedRequests; request++) {
      yield* plans.taken
      yield* timed(explained.url + path, own.key)
      pages.push(sum((yield* plans.taken).map(pagesOf)))
    }
    costs.set(name, { median: percentile(times, 0.5), p95: percentile(times, 0.95), pages: percentile(pages, 0.5) })
  }
  return costs
}, Effect.scoped)

/** Pages of tables and indexes that were looked at so far. A process tells of its own when it ends. */
const pagesSoFar = Effect.fnUntraced(function* ({ sql }: Installation) {
  const [row] = yield* sql<{ readonly pages: number }>`
    SELECT sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0)
      + coalesce(toast_blks_hit + toast_blks_read, 0) + coalesce(tidx_blks_hit + tidx_blks_read, 0))::float8 AS pages
    FROM pg_statio_user_tables
  `
  return row?.pages ?? 0
})

/** What the server has written to its log, of whatever database. */
const logBytes = ({ sql }: Installation) =>
  Effect.map(
    sql<{ readonly bytes: number }>`SELECT (pg_current_wal_lsn() - '0/0')::float8 AS bytes`,
    ([row]) => row?.bytes ?? 0
  )

const whole = Effect.fnUntraced(function* (own: Installation, settings: Record<string, string>) {
  const inlet = yield* InletProcess.start({ RETENTION_DAYS: "0", ...own.settings, ...settings })
  const stop = Effect.andThen(inlet.signal("SIGTERM"), inlet.ending)
  return { port: inlet.smtpPort, stop }
})

type Sender = Effect.Success<typeof SteadyLoad.make>

const measureMessage = Effect.fnUntraced(function* (own: Installation, sender: Sender) {
  const load = { recipient: "user3@customer0.example", pace: { concurrency: 20 } }
  const warm = yield* whole(own, {})
  yield* sender.run({ ...load, port: warm.port, run: "warm", messages: 300 })
  yield* warm.stop

  const before = yield* pagesSoFar(own)
  const inlet = yield* whole(own, {})
  yield* sender.run({ ...load, port: inlet.port, run: "warmer", messages: 300 })
  const logBefore = yield* logBytes(own)
  const started = performance.now()
  const { toWebhook } = yield* sender.run({ ...load, port: inlet.port, run: "hot", messages: hotMessages })
  const seconds = (performance.now() - started) / 1_000
  const log = (yield* logBytes(own)) - logBefore
  yield* inlet.stop
  const pages = (yield* pagesSoFar(own)) - before

  const plans = yield* StatementPlans.before(own.url)
  const explained = yield* whole(own, { DATABASE_URL: plans.url })
  yield* sender.run({ ...load, port: explained.port, run: "explained-warm", messages: 300 })
  yield* plans.taken
  yield* sender.run({ ...load, port: explained.port, run: "explained", messages: hotMessages })
  const statements = yield* plans.taken
  yield* explained.stop
  return {
    perSecond: toWebhook.length / seconds,
    pages: pages / (hotMessages + 300),
    log: log / hotMessages,
    milliseconds: sum(statements.map(({ milliseconds }) => milliseconds)) / hotMessages
  }
}, Effect.scoped)

const bytesOf = Effect.fnUntraced(function* ({ sql }: Installation, size: number) {
  const rows = yield* sql<{ readonly name: string; readonly heap: number; readonly indexes: number }>`
    SELECT relname AS name, (pg_total_relation_size(oid) - pg_indexes_size(oid))::float8 AS heap,
      pg_indexes_size(oid)::float8 AS indexes
    FROM pg_class WHERE relname = ANY(${[...MailHistory.growing]}::text[]) ORDER BY relname
  `
  return rows.map(({ heap, indexes, name }) => ({ name, heap: heap / size, indexes: indexes / size }))
})

const measure = Effect.fnUntraced(function* (size: number) {
  const sender = yield* SteadyLoad.make
  const own = yield* installation(`inlet_growth_${size}`, sender.url)
  const started = performance.now()
  yield* MailHistory.seed({ domains: own.domains, messages: size, from: 13.9, to: 0.01 }).pipe(
    Effect.provideContext(own.world)
  )
  yield* Console.log(`${size} events seeded in ${((performance.now() - started) / 1_000).toFixed(0)} s`)
  const bytes = yield* bytesOf(own, size)
  const costs = yield* measureLists(own)
  yield* Console.log(
    [...costs]
      .map(([name, { median, p95, pages }]) => `${name}: ${median.toFixed(1)} / ${p95.toFixed(1)} ms, ${pages}`)
      .join("\n")
  )
  const message = yield* measureMessage(own, sender)
  yield* Console.log(message)
  return { size, bytes, costs, message }
}, Effect.scoped)

const expiredLeft = ({ sql }: Installation) =>
  Effect.map(
    sql`SELECT 1 FROM inbound_emails WHERE received_at < now() - interval '14 days' LIMIT 1`,
    (rows) => rows.length > 0
  )

/** The same mail to two processes, one of which has much to remove meanwhile. */
const measureSweep = Effect.fnUntraced(function* (size: number) {
  const sender = yield* SteadyLoad.make
  const own = yield* installation("inlet_growth_sweep", sender.url)
  yield* Effect.gen(function* () {
    yield* MailHistory.seed({ domains: own.domains, messages: size, from: 20, to: 14.1 })
    yield* MailHistory.seed({ domains: own.domains, messages: 10_000, from: 13.9, to: 0.01 })
  }).pipe(Effect.provideContext(own.world))
  const load = { recipient: "user3@customer0.example", messages: 500, pace: { everyMillis: 20 } }

  const quiet = yield* whole(own, {})
  yield* sender.run({ ...load, port: quiet.port, run: "quiet-warm" })
  const without = [
    yield* sender.run({ ...load, port: quiet.port, run: "quiet-1" }),
    yield* sender.run({ ...load, port: quiet.port, run: "quiet-2" })
  ]
  yield* quiet.stop

  const started = performance.now()
  const sweeping = yield* whole(own, { RETENTION_DAYS: "14" })
  yield* sender.run({ ...load, port: sweeping.port, run: "sweeping-warm" })
  const during: Array<SteadyLoad.Times> = []
  while (yield* expiredLeft(own)) {
    during.push(yield* sender.run({ ...load, port: sweeping.port, run: `sweeping-${during.length}` }))
  }
  const seconds = (performance.now() - started) / 1_000
  yield* sweeping.stop
  const row = (name: string, runs: ReadonlyArray<SteadyLoad.Times>) => {
    const toReply = runs.flatMap((times) => times.toReply)
    const toWebhook = runs.flatMap((times) => times.toWebhook)
    const of = (values: ReadonlyArray<number>) =>
      `${percentile(values, 0.5).toFixed(1)} / ${percentile(values, 0.99).toFixed(1)}`
    return `| ${name} | ${toReply.length} | ${of(toReply)} | ${of(toWebhook)} |`
  }
  return [
    `${size.toLocaleString("en")} expired events were removed in ${seconds.toFixed(0)} s, beside 50 mails a second:`,
    "",
    "| | mails | DATA → 250, p50 / p99 ms | DATA → webhook, p50 / p99 ms |",
    "|---|---|---|---|",
    row("without a sweep", without),
    row("while it sweeps", during)
  ]
}, Effect.scoped)

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const results: Array<Effect.Success<ReturnType<typeof measure>>> = []
  for (const size of sizes) results.push(yield* measure(size))
  const names = [...(results[0]?.costs.keys() ?? [])]
  const cell = (cost: Cost | undefined) =>
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
    "| bytes of an event | rows | indexes |",
    "|---|---|---|",
    ...(results.at(-1)?.bytes ?? []).map(
      ({ heap, indexes, name }) => `| ${name} | ${heap.toFixed(0)} | ${indexes.toFixed(0)} |`
    ),
    ...(flags.sweep ? ["", ...(yield* measureSweep(Math.max(...sizes)))] : [])
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
