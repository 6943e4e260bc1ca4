import { NodeServices } from "@effect/platform-node"
import { Duration, Effect, FileSystem, Redacted } from "effect"
import * as WorkerThread from "../src/threads/WorkerThread.ts"
import { DnsServer } from "../test/DnsServer.ts"
import * as InletProcess from "../test/InletProcess.ts"
import * as Attacks from "./Attacks.ts"
import { Cluster } from "./Cluster.ts"
import type { Felt, Task } from "./Tenant.ts"

export interface Verdict {
  readonly title: string
  readonly database: "server" | "embedded"
  readonly before: Felt
  readonly under: Felt
  readonly faults: ReadonlyArray<string>
}

/** The latency limits of the tenant, and the memory limit of the process. */
const bounds = { api: 250, smtp: 500, delivery: 1_000, memory: 1_024 }

export const all = Attacks.all.flatMap((attack) => [
  { attack, database: "server" as const },
  { attack, database: "embedded" as const }
])

/** Measures a tenant without an attack, and then with one. */
export const run = Effect.fn("Siege.run")(
  function* (attack: Attacks.Attack, database: "server" | "embedded", name: string, time: Duration.Duration) {
    const cluster = yield* Cluster
    const dns = yield* DnsServer
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-siege-" })
    yield* cluster.program("createdb", name)
    const url = new URL(Redacted.value(cluster.url))
    url.pathname = `/${name}`
    const inlet = yield* InletProcess.start({
      DATA_DIR: folder,
      DNS_SERVERS: dns.server,
      MAX_DOMAINS_PER_WORKSPACE: "5",
      SECRETS_KEY: Buffer.from(name.padEnd(32, "!").slice(0, 32)).toString("base64"),
      ...(database === "server" ? { DATABASE_URL: url.href } : {})
    })
    const tenant = yield* WorkerThread.make<Task, string | Felt>(new URL("Tenant.ts", import.meta.url))
    const webhook = yield* tenant.ask("webhook")
    const inbox = yield* inlet.inbox(`${webhook}`)
    const work = Effect.fnUntraced(function* (when: string) {
      const { pid, smtpPort, url } = inlet
      const millis = Duration.toMillis(time)
      const felt = yield* tenant.ask({ url, smtpPort, pid, inbox, name: `${name}-${when}`, millis })
      return typeof felt === "string" ? yield* Effect.die(new Error(felt)) : felt
    })
    const attacked = yield* attack.prepare(inlet)

    const before = yield* work("before")
    const under = yield* Effect.scoped(
      Effect.gen(function* () {
        yield* Effect.forkScoped(attacked)
        return yield* work("under")
      })
    )
    const lives = yield* inlet.call("GET", "/health")
    const verdict: Verdict = {
      title: attack.title,
      database,
      before,
      under,
      faults: [
        ...(lives.status === 200 ? [] : ["The process no longer serves"]),
        ...(["api", "smtp", "delivery"] as const).flatMap((what) =>
          under[what] <= bounds[what]
            ? []
            : [`${what}: p99 of ${Math.round(under[what])} ms, of ${bounds[what]} allowed`]
        ),
        ...(database === "embedded" || under.memory <= bounds.memory
          ? []
          : [`The process had ${Math.round(under.memory)} MiB, of ${bounds.memory} allowed`])
      ]
    }
    return verdict
  },
  Effect.scoped,
  Effect.provide([NodeServices.layer, DnsServer.layer]),
  Effect.orDie
)
