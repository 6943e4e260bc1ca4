import { type AddressInfo, createServer, type Server } from "node:net"
import { Effect, FileSystem, Path, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { ChildProcess } from "effect/process"
import { eventually } from "../test/Eventually.ts"
import * as Ports from "../test/Ports.ts"
import { root } from "../test/Program.ts"
import { Compiled, compile } from "./Compiled.ts"
import * as Haraka from "./Haraka.ts"
import type { Receiver } from "./LoadGenerator.ts"
import * as Postgres from "./Postgres.ts"

export class ContestantFailed extends Schema.TaggedError<ContestantFailed>()("ContestantFailed", {
  message: Schema.String
}) {}

/** A mail server in processes of its own, which end with the scope. */
export interface Contestant extends Receiver {
  readonly processes: ReadonlyArray<number>
  /** The PostgreSQL process of this contestant, if it uses one. */
  readonly database?: number
}

export interface World {
  /** The webhook URL. */
  readonly webhook: string
  readonly postgres: Postgres.Server | undefined
  /** A folder for the CPU profile of Inlet's main thread, which is written at exit. */
  readonly profile: string | undefined
  /** The folder of another checkout, with its packages installed. */
  readonly against: string | undefined
}

/** Starts a process and waits until it listens on this port. */
const start = Effect.fnUntraced(function* (
  port: number,
  args: ReadonlyArray<string>,
  { cwd = root, env = {} }: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {}
) {
  const child = yield* ChildProcess.make(process.execPath, args, {
    cwd,
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
    forceKillAfter: "20 seconds"
  })
  // Kill the contestants if the benchmark itself ends early, for example on a closed output pipe.
  const kill = () => Effect.runSync(Effect.ignore(Effect.try(() => process.kill(Number(child.pid), "SIGKILL"))))
  yield* Effect.acquireRelease(
    Effect.sync(() => process.once("exit", kill)),
    () => Effect.sync(() => process.removeListener("exit", kill))
  )
  yield* eventually(Ports.isAnswered(port), (yes) => yes, "60 seconds").pipe(
    Effect.raceFirst(
      Effect.flatMap(Effect.orDie(child.exitCode), (code) =>
        Effect.fail(new ContestantFailed({ message: `ended with ${code} instead of listening` }))
      )
    )
  )
  return Number(child.pid)
})

const folder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.makeTempDirectoryScoped({ prefix: "inlet-bench-" })
})

const needed = (server: Postgres.Server | undefined) =>
  server === undefined
    ? Effect.fail(new ContestantFailed({ message: "needs a PostgreSQL server: set BENCH_DATABASE_URL" }))
    : Effect.succeed(server)

const recipient = "somebody@bench.example"

const plain = Effect.fnUntraced(function* ({ webhook }: World) {
  const smtpPort = yield* Ports.free
  const pid = yield* start(smtpPort, ["bench/contestants/plain.mjs", `${smtpPort}`, webhook])
  return { smtpPort, recipient, processes: [pid] }
})

const durable = Effect.fnUntraced(function* ({ postgres, webhook }: World) {
  const server = yield* needed(postgres)
  const database = yield* Postgres.database(server, "durable_bench")
  const smtpPort = yield* Ports.free
  const pid = yield* start(smtpPort, ["bench/contestants/durable.mjs", `${smtpPort}`, webhook, database, yield* folder])
  return { smtpPort, recipient, processes: [pid], database: server.postmaster }
})

const haraka = Effect.fnUntraced(function* ({ webhook }: World) {
  const haraka = yield* Haraka.installed
  const smtpPort = yield* Ports.free
  const home = yield* folder
  yield* Haraka.configure(haraka, home, smtpPort)
  const pid = yield* start(smtpPort, [`${haraka}/bin/haraka`, "-c", home], {
    env: { BENCH_WEBHOOK: webhook, BENCH_FOLDER: `${home}/mail` }
  })
  return { smtpPort, recipient, processes: [pid] }
})

const Package = Schema.fromJsonString(Schema.Struct({ scripts: Schema.Struct({ start: Schema.String }) }))

/** The arguments of node in `npm start`. */
const startScript = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const text = yield* fs.readFileString(path.join(root, "package.json"))
  const { scripts } = yield* Schema.decodeEffect(Package)(text)
  const [, args] = /^exec node (.+)$/.exec(scripts.start) ?? []
  return args?.split(" ") ?? (yield* Effect.die(`npm start runs ${scripts.start}, and not exec node with arguments`))
})

const Answer = {
  workspace: Schema.Struct({ api_key: Schema.String }),
  inbox: Schema.Struct({ address: Schema.String, domain_id: Schema.String })
}

/** Starts the compiled Inlet with the flags of `npm start`. */
export const inletProcess = Effect.fnUntraced(function* (
  settings: Readonly<Record<string, string>>,
  nodeFlags: ReadonlyArray<string> = []
) {
  const env = {
    HTTP_PORT: `${yield* Ports.free}`,
    SMTP_PORT: `${yield* Ports.free}`,
    ROLES: "http,smtp,worker",
    DATA_DIR: yield* folder,
    MAX_EMAILS_PER_DAY: "0",
    LOG_LEVEL: "warn",
    // All connections come from one address.
    SMTP_MAX_CONNECTIONS_PER_IP: "0",
    // A DNS server that does not exist: sender checks run, and no query leaves this machine.
    DNS_SERVERS: "127.0.0.1:9",
    ...settings
  }
  const smtpPort = Number(env.SMTP_PORT)
  const { folder: cwd } = yield* Compiled
  const pid = yield* start(smtpPort, [...nodeFlags, ...(yield* startScript)], { env, cwd })
  const url = `http://127.0.0.1:${env.HTTP_PORT}`
  if (env.ROLES.includes("http")) yield* eventually(isReady(url), (yes) => yes, "60 seconds")
  return { pid, smtpPort, url }
})

const isReady = Effect.fnUntraced(function* (url: string) {
  const client = yield* HttpClient.HttpClient
  return yield* client.get(`${url}/ready`).pipe(
    Effect.map(({ status }) => status === 200),
    // The server does not listen yet.
    Effect.orElseSucceed(() => false)
  )
})

/** The address of a new inbox with this webhook. */
export const inbox = Effect.fnUntraced(function* (url: string, webhook: string) {
  const client = yield* HttpClient.HttpClient
  const ask = <S extends Schema.Constraint>(
    method: "POST" | "PATCH",
    path: string,
    key: string,
    body: unknown,
    answer: S
  ) =>
    HttpClientRequest.make(method)(`${url}${path}`).pipe(
      HttpClientRequest.bearerToken(key),
      HttpClientRequest.bodyJsonUnsafe(body),
      client.execute,
      Effect.flatMap(HttpClientResponse.schemaBodyJson(answer))
    )
  const { api_key: key } = yield* ask("POST", "/api/workspaces", "", { name: "bench" }, Answer.workspace)
  const { address, domain_id: id } = yield* ask("POST", "/api/instant-inbox", key, {}, Answer.inbox)
  yield* ask("PATCH", `/api/domains/${id}/delivery`, key, { webhookUrl: webhook }, Schema.Unknown)
  return address
})

const profiling = (folder: string | undefined) =>
  folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`]

const inlet = Effect.fnUntraced(function* ({ postgres, profile, webhook }: World) {
  const server = yield* needed(postgres)
  const own = yield* inletProcess({ DATABASE_URL: yield* Postgres.database(server, "inlet_bench") }, profiling(profile))
  return {
    smtpPort: own.smtpPort,
    recipient: yield* inbox(own.url, webhook),
    processes: [own.pid],
    database: server.postmaster
  }
})

const against = Effect.fnUntraced(function* ({ against, postgres, webhook }: World) {
  const server = yield* needed(postgres)
  if (against === undefined) return yield* new ContestantFailed({ message: "needs a checkout: set --against" })
  const own = yield* inletProcess({ DATABASE_URL: yield* Postgres.database(server, "inlet_against_bench") }).pipe(
    Effect.provideServiceEffect(Compiled, compile(against))
  )
  return {
    smtpPort: own.smtpPort,
    recipient: yield* inbox(own.url, webhook),
    processes: [own.pid],
    database: server.postmaster
  }
})

/** A scanner that takes connections and never answers. */
const silence = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
)

const unscanned = Effect.fnUntraced(function* ({ postgres, webhook }: World) {
  const server = yield* needed(postgres)
  // Listening on a port.
  const { port } = (yield* silence).address() as AddressInfo
  const own = yield* inletProcess({
    DATABASE_URL: yield* Postgres.database(server, "inlet_unscanned_bench"),
    MAIL_SCANNER: "rspamd",
    RSPAMD_URL: `http://127.0.0.1:${port}`
  })
  return {
    smtpPort: own.smtpPort,
    recipient: yield* inbox(own.url, webhook),
    processes: [own.pid],
    database: server.postmaster
  }
})

const embedded = Effect.fnUntraced(function* ({ profile, webhook }: World) {
  const own = yield* inletProcess({}, profiling(profile))
  return { smtpPort: own.smtpPort, recipient: yield* inbox(own.url, webhook), processes: [own.pid] }
})

/** All contestants, by their name in `--only`. */
export const all = {
  a: { name: "(a) smtp-server + simpleParser + fetch, nothing stored", start: plain },
  b: { name: "(b) the same with a file, fsync and one INSERT", start: durable },
  c: { name: "(c) Haraka with a file and fsync", start: haraka },
  inlet: { name: "Inlet on PostgreSQL", start: inlet },
  against: { name: "Inlet of another checkout", start: against },
  unscanned: { name: "Inlet on PostgreSQL, its mail scanner hangs", start: unscanned },
  embedded: { name: "Inlet, embedded database", start: embedded }
}

export type Key = keyof typeof all
