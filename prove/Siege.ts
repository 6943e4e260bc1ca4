import { NodeServices } from "@effect/platform-node"
import { Clock, Duration, Effect, FileSystem, Redacted } from "effect"
import * as Statistics from "../bench/Statistics.ts"
import { DnsServer } from "../test/DnsServer.ts"
import { eventually } from "../test/Eventually.ts"
import * as InletProcess from "../test/InletProcess.ts"
import * as Mail from "../test/Mail.ts"
import * as Attacks from "./Attacks.ts"
import { Cluster } from "./Cluster.ts"
import * as Receiver from "./Receiver.ts"

/** Thousandths of a second, as the tenant had them: 99 of a hundred took no longer. */
export interface Felt {
  readonly api: number
  readonly smtp: number
  readonly delivery: number
  /** The most memory that the process had, in MiB. */
  readonly memory: number
}

export interface Verdict {
  readonly title: string
  readonly database: "server" | "embedded"
  readonly before: Felt
  readonly under: Felt
  readonly faults: ReadonlyArray<string>
}

/** What the tenant may feel, and what the process may take. */
const bounds = { api: 250, smtp: 500, delivery: 1_000, memory: 1_024 }

export const all = Attacks.all.flatMap((attack) => [
  { attack, database: "server" as const },
  { attack, database: "embedded" as const }
])

/** A tenant's work without an attack, and with one beside it from its first moment on. */
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
    const receiver = yield* Receiver.make
    const tenant = yield* inlet.inbox(receiver.url)
    yield* receiver.trust(Redacted.make(tenant.secret))
    const attacked = yield* attack.prepare(inlet)

    const before = yield* work(inlet, tenant, receiver, `${name}-before`, time)
    const under = yield* Effect.scoped(
      Effect.gen(function* () {
        yield* Effect.forkScoped(attacked)
        return yield* work(inlet, tenant, receiver, `${name}-under`, time)
      })
    )
    const lives = yield* inlet.call("GET", "/health")
    const verdict: Verdict = {
      title: attack.title,
      database,
      before,
      under,
      faults: [
        ...(lives.status === 200 ? [] : ["The process does not serve any more"]),
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

/** What the tenant feels in this time: lists, mails one after the other, and their webhooks. */
const work = Effect.fnUntraced(function* (
  inlet: InletProcess.InletProcess,
  tenant: InletProcess.Inbox,
  receiver: Receiver.Receiver,
  name: string,
  time: Duration.Duration
) {
  const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(time)
  const again = <A, E>(once: (number: number) => Effect.Effect<A, E>, pause: Duration.Input) =>
    Effect.gen(function* () {
      const all: Array<A> = []
      while ((yield* Clock.currentTimeMillis) < until) {
        all.push(yield* once(all.length))
        yield* Effect.sleep(pause)
      }
      return all
    })

  const lists = again(
    () =>
      Effect.timed(inlet.call("GET", `/api/domains/${tenant.domainId}/events?limit=10`, { key: tenant.key })).pipe(
        // A refusal is no answer.
        Effect.map(([took, { status }]) => (status === 200 ? Duration.toMillis(took) : Number.POSITIVE_INFINITY))
      ),
    "50 millis"
  )
  const mails = again(
    Effect.fnUntraced(function* (number) {
      const subject = `${name}-${number}`
      const [took, isKept] = yield* Effect.timed(
        Effect.isSuccess(Mail.send(inlet.smtpPort, { to: tenant.address, subject }))
      )
      return {
        subject,
        isKept,
        took: isKept ? Duration.toMillis(took) : Number.POSITIVE_INFINITY,
        at: yield* Clock.currentTimeMillis
      }
    }),
    "100 millis"
  )
  const memory = again(() => residentMiB(inlet.pid), "200 millis")
  const [api, sent, resident] = yield* Effect.all([lists, mails, memory], { concurrency: "unbounded" })
  const kept = sent.filter(({ isKept }) => isKept)

  const firstAt = () => new Map([...receiver.events.values()].map(({ firstAt, marker }) => [marker, firstAt]))
  yield* eventually(Effect.sync(firstAt), (heard) => kept.every(({ subject }) => heard.has(subject)), "30 seconds")
  const heard = firstAt()
  const felt: Felt = {
    api: Statistics.percentile(api, 0.99),
    smtp: Statistics.percentile(
      sent.map(({ took }) => took),
      0.99
    ),
    delivery: Statistics.percentile(
      kept.map(({ at, subject }) => (heard.get(subject) ?? Number.POSITIVE_INFINITY) - at),
      0.99
    ),
    memory: Math.max(...resident)
  }
  return felt
}, Effect.orDie)

/** As Linux tells it: proc(5). */
const residentMiB = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  const status = yield* fs.readFileString(`/proc/${pid}/status`)
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024
}, Effect.provide(NodeServices.layer))
