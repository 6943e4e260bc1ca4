import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { Config, ConfigProvider, Deferred, Effect, FileSystem, Option } from "effect"
import { type Answer, type CallOptions, call } from "./ApiCall.ts"
import { eventually } from "./Eventually.ts"
import * as Ports from "./Ports.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** The exit of a process: by code or by signal. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The service as a separate process, killed at the end of its scope. */
export interface InletProcess {
  readonly url: string
  readonly smtpPort: number
  readonly pid: number
  call(method: Parameters<typeof call>[1], path: string, options?: CallOptions): Effect.Effect<Answer>
  signal(name: NodeJS.Signals): Effect.Effect<void>
  /** Waits up to 40 s for the exit. */
  readonly ending: Effect.Effect<Ending>
  /** Its whole output. */
  readonly output: Effect.Effect<string>
  /** A new workspace with an instant inbox that has this webhook. */
  inbox(webhookUrl: string): Effect.Effect<Inbox>
}

export interface Inbox {
  readonly key: string
  readonly secret: string
  readonly domainId: string
  readonly address: string
}

/** Whether the suite runs on a PostgreSQL server, which several processes can share. */
export const hasServer = Effect.map(Config.option(Config.Redacted("TEST_DATABASE_URL")), Option.isSome)

export const folder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })).pipe(
  Effect.provide(NodeServices.layer)
)

/** Shared by all starts of one installation: a folder, and a migrated database in it or on the suite's server. */
export const installation = Effect.gen(function* () {
  const DATA_DIR = yield* folder
  return { DATA_DIR, ...(yield* TestDatabase.migratedFor(DATA_DIR)) }
}).pipe(Effect.orDie)

/** An installation before its first start. */
export const emptyInstallation = Effect.gen(function* () {
  return { DATA_DIR: yield* folder, ...(yield* TestDatabase.empty) }
}).pipe(Effect.orDie)

/** The compile cache that processes share. */
const compiled = Config.all({ NODE_COMPILE_CACHE: Config.String("NODE_COMPILE_CACHE") }).pipe(Config.withDefault({}))

/** V8 flags for the processes, separated by spaces. The suite sets some, trials and benchmarks none. */
const v8Flags = Config.String("TEST_V8_FLAGS").pipe(Config.withDefault(""))

/** Whether processes and commands run the bundle of the suite. Trials and benchmarks run the sources, as `npm start` does. */
export const isBundled = Config.Boolean("TEST_BUNDLE").pipe(Config.withDefault(false))

/** Processes of the effect run the sources, for first starts and for limits of memory. */
export const fromSources = Effect.provide(
  ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ TEST_BUNDLE: "false" }), { asPrimary: true })
)

/** The script of the service. */
export const script = Effect.gen(function* () {
  if (!(yield* isBundled)) return fileURLToPath(new URL("../src/main.ts", import.meta.url))
  const ServiceBundle = yield* Effect.promise(() => import("./ServiceBundle.ts"))
  return yield* ServiceBundle.script("main")
}).pipe(Effect.orDie)

/** Starts a process without waiting for it. `before` is a command prefix that becomes the process. */
export const spawned = Effect.fnUntraced(function* (
  settings: Readonly<Record<string, string>>,
  before: ReadonlyArray<string> = []
) {
  const env: Record<string, string> = {
    ...(yield* Effect.orDie(compiled)),
    HTTP_PORT: `${yield* Ports.free}`,
    SMTP_PORT: `${yield* Ports.free}`,
    MAX_EMAILS_PER_DAY: "0",
    LOG_LEVEL: "error",
    // A DNS server that does not exist: no query of a test leaves this machine.
    DNS_SERVERS: "127.0.0.1:9",
    ...settings
  }
  const flags = (yield* Effect.orDie(v8Flags)).split(" ").filter((flag) => flag !== "")
  const main = yield* script
  const ended = yield* Deferred.make<Ending>()
  let output = ""
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const [command = "", ...args] = [...before, process.execPath, ...flags, main]
      const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] })
      child.stdout.on("data", (chunk) => (output += chunk))
      child.stderr.on("data", (chunk) => (output += chunk))
      child.once("close", (code, signal) => Deferred.doneUnsafe(ended, Effect.succeed({ code, signal })))
      return child
    }),
    (child) =>
      Effect.andThen(
        Effect.sync(() => child.kill("SIGKILL")),
        Deferred.await(ended)
      )
  )
  const url = `http://127.0.0.1:${env.HTTP_PORT}`
  const ending = Deferred.await(ended).pipe(
    Effect.timeoutOrElse({
      duration: "40 seconds",
      orElse: () => Effect.die(new Error(`The process did not exit in time. Its output: ${output}`))
    })
  )
  const at: InletProcess["call"] = (method, path, options) => call(url, method, path, options)

  const inbox = Effect.fnUntraced(function* (webhookUrl: string) {
    const workspace = yield* at("POST", "/api/workspaces", { body: { name: "test" } })
    const key = workspace.json.api_key as string
    const { json } = yield* at("POST", "/api/instant-inbox", { key })
    yield* at("PATCH", `/api/domains/${json.domain_id}/delivery`, { key, body: { webhookUrl } })
    return {
      key,
      secret: workspace.json.webhook_signing_secret as string,
      domainId: json.domain_id as string,
      address: json.address as string
    }
  })

  const inlet: InletProcess = {
    url,
    smtpPort: Number(env.SMTP_PORT),
    pid: child.pid ?? 0,
    call: at,
    signal: (name) => Effect.sync(() => void child.kill(name)),
    ending,
    output: Effect.sync(() => output),
    inbox
  }
  return { inlet, roles: (env.ROLES ?? "http,smtp,worker").split(","), hasEnded: Deferred.isDone(ended) }
})

/**
 * Starts a process and waits until it serves. A process with only the role worker does not listen, so there is no
 * wait for it.
 */
export const start = Effect.fnUntraced(function* (
  settings: Readonly<Record<string, string>>,
  before?: ReadonlyArray<string>
) {
  const process = yield* spawned(settings, before)
  yield* serving(process)
  return process.inlet
})

/** Waits until a process serves. */
export const serving = Effect.fnUntraced(function* ({
  hasEnded,
  inlet,
  roles
}: Effect.Success<ReturnType<typeof spawned>>) {
  const serves = Effect.gen(function* () {
    if (yield* hasEnded)
      return yield* Effect.die(new Error(`The process exited at its start. Its output: ${yield* inlet.output}`))
    const smtp = !roles.includes("smtp") || (yield* Ports.isAnswered(inlet.smtpPort))
    const http = !roles.includes("http") || (yield* isReady(inlet))
    return smtp && http
  })
  yield* eventually(serves, (yes) => yes)
})

const isReady = (inlet: InletProcess) =>
  inlet.call("GET", "/ready").pipe(
    Effect.map(({ status }) => status === 200),
    // The process does not listen yet.
    Effect.catchDefect(() => Effect.succeed(false))
  )
