import { NodeServices } from "@effect/platform-node"
import { Array, Clock, Context, Duration, Effect, FileSystem, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../src/database/Database.ts"
import * as RawLog from "../test/RawLog.ts"
import * as Bridge from "./Bridge.ts"
import { Cluster } from "./Cluster.ts"
import * as Disk from "./Disk.ts"
import * as IngestCarrier from "./IngestCarrier.ts"
import * as Outcome from "./Outcome.ts"
import * as Receiver from "./Receiver.ts"
import type { Scenario } from "./Scenarios.ts"
import * as Sender from "./Sender.ts"
import * as Service from "./Service.ts"
import * as SmtpCarrier from "./SmtpCarrier.ts"

export interface Options {
  /** The duration of the faults. */
  readonly time: Duration.Duration
  /** Started messages per second. */
  readonly perSecond: number
  /** Whether to wait for the 60 s lease of a dead process, or to expire it at once. */
  readonly leases: "waited for" | "taken as over"
}

/** The observations. */
export interface Verdict {
  readonly title: string
  readonly seconds: number
  /** The number of faults. */
  readonly times: number
  readonly sent: number
  readonly accepted: number
  /** Messages retried after a temporary refusal or no answer. */
  readonly retried: number
  readonly delivered: number
  /** Answered 250 and never delivered. */
  readonly lost: number
  /** Messages with two events. */
  readonly doubled: number
  /** Repeated requests for an event. */
  readonly repeated: number
  /** From the 250 to the webhook. */
  readonly longestDelay: Duration.Duration
  /** Unexpected observations, in sentences. */
  readonly faults: ReadonlyArray<string>
}

/** The 60 s lease, the wait for a claim, and the time to clear the backlog. */
const patience = Duration.seconds(150)

/** Sends mail continuously during a scenario, and checks the outcome of each message. */
export const run = Effect.fn("Trial.run")(
  function* (scenario: Scenario, name: string, { leases, perSecond, time }: Options) {
    const cluster = yield* Cluster
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-prove-" })
    const disk = yield* Disk.make(`${folder}/raw`)
    const database = name.replaceAll("-", "_")
    yield* cluster.program("createdb", database)
    const url = new URL(Redacted.value(cluster.url))
    url.pathname = `/${database}`
    const secretsKey = Buffer.from(name.padEnd(32, "!")).toString("base64")
    const settings = {
      RAW_DIR: disk.folder,
      SECRETS_KEY: secretsKey,
      LOG_LEVEL: "info",
      LOG_FORMAT: "json",
      // A DNS server that does not exist: no query leaves the machine.
      DNS_SERVERS: "127.0.0.1:9",
      WEBHOOK_RETRY_DELAYS: Array.replicate("1s", 100).join(","),
      ...(scenario.database === "server" ? { DATABASE_URL: url.href } : {})
    }
    const service = yield* Service.make({ ...settings, DATA_DIR: `${folder}/first` })
    const other = yield* Service.make({ ...settings, DATA_DIR: `${folder}/second` })
    const inlet = yield* service.start
    if (scenario.processes === 2) yield* other.start

    const receiver = yield* Receiver.make
    const { address, domainId, key, secret } = yield* inlet.inbox(receiver.url)
    yield* receiver.trust(Redacted.make(secret))

    const began = yield* Clock.currentTimeMillis
    const { bridge, carrier } = yield* carrierOf(scenario, { service, other, folder, address, domainId, key })
    const sender = yield* Sender.make({ carrier, to: address, name, perSecond })
    const { faults: seen, times } = yield* scenario.strike({ cluster, service, other, disk, bridge, key, time })
    const seconds = Math.round(((yield* Clock.currentTimeMillis) - began) / 1_000)
    yield* sender.finish
    if (leases === "taken as over" && scenario.database === "server") yield* endLeases(url.href)

    const get = (path: string) => service.call("GET", path, { key })
    const parties = { domainId, get, sender, receiver }
    yield* Outcome.settled(parties, patience)
    const delivered = yield* Outcome.events(parties, "&delivery=delivered")
    const { accepted, doubled, faults, heard, listed, lost } = yield* Outcome.of(parties, {
      printed: `${yield* service.printed}${yield* other.printed}`,
      secrets: {
        "the API key": key,
        "the signing secret": secret,
        SECRETS_KEY: secretsKey,
        "the password of the database": url.password,
        "the text of a mail": Sender.text
      }
    })
    const kept = new Set([...listed.values()].flat().map(({ inbound_email_id }) => inbound_email_id))
    const stray = (yield* RawLog.records(disk.folder)).flatMap(({ id }) => (kept.has(id) ? [] : [id]))
    const isUnscathed = sender.sent.every(({ postponed, unanswered }) => postponed + unanswered === 0)

    const verdict: Verdict = {
      title: scenario.title,
      seconds,
      times,
      sent: sender.sent.length,
      accepted: accepted.length,
      retried: sender.sent.filter(({ postponed, unanswered }) => postponed + unanswered > 0).length,
      delivered: heard.size,
      lost: lost.length,
      doubled: doubled.size,
      repeated: [...receiver.events.values()].reduce((sum, { requests }) => sum + requests - 1, 0),
      longestDelay: Duration.millis(
        Math.max(
          0,
          ...accepted.flatMap(({ acceptedAt = 0, marker }) =>
            (heard.get(marker) ?? []).map(({ firstAt }) => firstAt - acceptedAt)
          )
        )
      ),
      faults: [
        ...seen,
        ...faults,
        ...(delivered.length === accepted.length
          ? []
          : [`${delivered.length} events are listed as delivered, of ${accepted.length} messages`]),
        ...((yield* service.lives) ? [] : ["The process exited on its own"]),
        ...(scenario.leavesRecords || !disk.isMounted ? [] : Outcome.some(stray, "Raw messages without an event")),
        ...(isUnscathed && !scenario.killsProcesses
          ? ["No sender noticed the fault, so the scenario had no effect"]
          : [])
      ]
    }
    return verdict
  },
  Effect.scoped,
  Effect.provide(NodeServices.layer),
  Effect.orDie
)

/** How the mail of a scenario comes to the service. */
const carrierOf = Effect.fnUntraced(function* (
  { processes, way = "smtp" }: Scenario,
  place: {
    readonly service: Service.Service
    readonly other: Service.Service
    readonly folder: string
    readonly address: string
    readonly domainId: string
    readonly key: string
  }
) {
  const { address: to, domainId, folder, key, other, service } = place
  const { url } = service
  switch (way) {
    case "smtp": {
      const ports = processes === 2 ? [service.smtpPort, other.smtpPort] : [service.smtpPort]
      return { carrier: SmtpCarrier.make({ ports, to }), bridge: undefined }
    }
    case "ingest": {
      const { json } = yield* service.call("POST", "/api/workspaces/keys", { key, body: { scope: "ingest" } })
      return { carrier: IngestCarrier.make({ url, domainId, key: json.api_key, to }), bridge: undefined }
    }
    case "bridge": {
      const bridge = yield* Bridge.make({ url, domain: domainId, key, to, folder: `${folder}/bridge` })
      yield* bridge.start
      return { carrier: bridge.carrier, bridge }
    }
  }
})

/** Expires the leases of 60 s. */
const endLeases = Effect.fnUntraced(function* (url: string) {
  const sql = Context.get(yield* Layer.build(Database.layerPostgres(Redacted.make(url))), SqlClient.SqlClient)
  yield* sql`UPDATE inbound_emails SET leased_until = now() WHERE leased_until > now()`
  yield* sql`UPDATE deliveries SET leased_until = now() WHERE leased_until > now()`
}, Effect.scoped)
