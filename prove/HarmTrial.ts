import { NodeServices } from "@effect/platform-node"
import { Array, Clock, Context, Duration, Effect, FileSystem, Layer, Random, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../src/database/Database.ts"
import { S3Server } from "../test/simulators/S3Server.ts"
import type { Harm, Struck } from "./Harms.ts"
import { Nodes } from "./Nodes.ts"
import * as Outcome from "./Outcome.ts"
import * as Receiver from "./Receiver.ts"
import * as Sender from "./Sender.ts"
import * as Service from "./Service.ts"
import * as SmtpCarrier from "./SmtpCarrier.ts"

export interface Options {
  readonly title: string
  readonly harms: ReadonlyArray<Harm>
  /** Harms begin until then, at least one. */
  readonly time: Duration.Duration
  readonly perSecond: number
}

/** Durations in seconds. */
export interface Spread {
  readonly median: number
  readonly most: number
}

export interface Verdict {
  readonly title: string
  readonly seconds: number
  readonly times: number
  readonly sent: number
  readonly accepted: number
  /** Replies with 4xx, and attempts whose answer did not come. */
  readonly refused: number
  readonly unanswered: number
  /** Replies with 5xx. */
  readonly bounced: number
  readonly lost: number
  readonly doubled: number
  /** The longest time without a `250` at each harm. */
  readonly gap: Spread
  /** From each harm to a primary, or to the end of what Patroni does not heal. */
  readonly own: Spread
  /** How much longer the gap was. */
  readonly beyond: Spread
  /** Leases of processes that are gone, and how many of them others took over. */
  readonly leases: number
  readonly takenOver: number
  readonly faults: ReadonlyArray<string>
}

/** The 60 s lease, the wait for a claim, and the time to clear the backlog. */
const patience = Duration.seconds(180)

/** The settings of the trial: four processes, so that two have each role. */
const roles = { mail: "smtp", others: "http,worker" } as const

/** Sends mail continuously while harms strike, and checks the outcome of each message. */
export const run = Effect.fn("HarmTrial.run")(
  function* ({ harms, perSecond, time, title }: Options, name: string) {
    const nodes = yield* Nodes
    const store = yield* S3Server
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-harm-" })
    const database = name.replaceAll("-", "_")
    const url = yield* nodes.database(database)
    let count = 0
    const process = Effect.fnUntraced(function* (kind: keyof typeof roles) {
      return yield* Service.make({
        ...store.settings,
        DATABASE_URL: Redacted.value(url),
        SECRETS_KEY: Buffer.from(name.padEnd(32, "!").slice(0, 32)).toString("base64"),
        DATA_DIR: `${folder}/${++count}`,
        ROLES: roles[kind],
        LOG_LEVEL: "info",
        LOG_FORMAT: "json",
        WEBHOOK_RETRY_DELAYS: Array.replicate("1s", 100).join(",")
      })
    })
    const mail = [yield* process("mail"), yield* process("mail")]
    const others = [yield* process("others"), yield* process("others")]
    const inlets = yield* Effect.forEach(others, (service) => service.start)
    yield* Effect.forEach(mail, (service) => service.start)
    const ports = mail.map(({ smtpPort }) => smtpPort)
    const running = { mail, others }
    const ended: Array<Service.Service> = []
    const scope = yield* Effect.scope
    /** Another process comes in the place of one that is gone. */
    const replace = (kind: keyof typeof roles, index: number) =>
      Effect.gen(function* () {
        const before = running[kind][index]
        if (before !== undefined) ended.push(before)
        const next = yield* process(kind)
        running[kind][index] = next
        if (kind === "mail") ports[index] = next.smtpPort
        yield* next.start
      }).pipe(Scope.provide(scope))

    const receiver = yield* Receiver.make
    // Deliveries are under way at any moment, so a worker that is killed leaves some leased.
    yield* receiver.webhook.answerAlways((_request, response) => {
      // @effect-diagnostics-next-line globalTimers:off
      setTimeout(() => response.writeHead(200).end(), 100)
    })
    const [inlet] = inlets
    if (inlet === undefined) return yield* Effect.die(new Error("No process"))
    const { address, domainId, key, secret } = yield* inlet.inbox(receiver.url)
    yield* receiver.trust(Redacted.make(secret))
    const sql = Context.get(yield* Layer.build(Database.layerPostgres(url)), SqlClient.SqlClient)

    const began = yield* Clock.currentTimeMillis
    const sender = yield* Sender.make({
      carrier: SmtpCarrier.make({ ports, to: address }),
      to: address,
      name,
      perSecond,
      connections: 40
    })
    yield* Effect.sleep("5 seconds")
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(time)
    const left: Array<Harm> = []
    const struck: Array<Struck & { readonly until: number; readonly title: string }> = []
    do {
      // Each comes once before one comes again.
      if (left.length === 0) left.push(...(yield* Random.shuffle(harms)))
      const harm = left.shift()
      if (harm === undefined) break
      const stage = { nodes, database, sql, store, mail, others, replace }
      const result = yield* harm.strike(stage)
      yield* Effect.sleep("100 millis").pipe(
        Effect.repeat({ until: () => sender.sent.some(({ acceptedAt = 0 }) => acceptedAt > result.restored) }),
        Effect.timeoutOption("2 minutes")
      )
      yield* Effect.sleep(yield* Random.nextIntBetween(3_000, 8_000))
      struck.push({ ...result, until: yield* Clock.currentTimeMillis, title: harm.title })
    } while ((yield* Clock.currentTimeMillis) < until)
    const seconds = Math.round(((yield* Clock.currentTimeMillis) - began) / 1_000)
    yield* sender.finish

    const get = (path: string) =>
      running.others[0]?.call("GET", path, { key }) ?? Effect.die(new Error("No process serves the API"))
    const parties = { domainId, get, sender, receiver }
    yield* Outcome.settled(parties, patience)
    const { accepted, doubled, faults, lost } = yield* Outcome.of(parties, {
      printed: (yield* Effect.forEach([...ended, ...mail, ...others], ({ printed }) => printed)).join(""),
      secrets: {
        "the API key": key,
        "the signing secret": secret,
        "the password of the database": new URL(Redacted.value(url)).password,
        "the text of a mail": Sender.text
      }
    })
    const orphans = [...new Set(struck.flatMap(({ orphans }) => orphans))]
    const open = new Set(
      (yield* sql<{ readonly id: string }>`
        SELECT id::text FROM inbound_emails WHERE state = 'received'
        UNION ALL SELECT 'delivery ' || event_id FROM deliveries WHERE status = 'pending'
      `).map(({ id }) => id)
    )
    const times = accepted.flatMap(({ acceptedAt }) => acceptedAt ?? []).sort((one, other) => one - other)
    const gaps = struck.map(({ from, until }) => longestGap(times, from, until))
    const owns = struck.map(({ from, restored }) => restored - from)
    const verdict: Verdict = {
      title,
      seconds,
      times: struck.length,
      sent: sender.sent.length,
      accepted: accepted.length,
      refused: sender.sent.reduce((sum, { postponed }) => sum + postponed, 0),
      unanswered: sender.sent.reduce((sum, { unanswered }) => sum + unanswered, 0),
      bounced: sender.bounced.length,
      lost: lost.length,
      doubled: doubled.size,
      gap: spread(gaps),
      own: spread(owns),
      beyond: spread(gaps.map((gap, index) => Math.max(0, gap - (owns[index] ?? 0)))),
      leases: orphans.length,
      takenOver: orphans.filter((id) => !open.has(id)).length,
      faults: [
        ...struck.flatMap(({ faults, title }) => faults.map((fault) => `${title}: ${fault}`)),
        ...faults,
        ...Outcome.some([...open], "Not delivered at the end")
      ]
    }
    return { verdict, struck, gaps }
  },
  Effect.scoped,
  Effect.provide(NodeServices.layer),
  Effect.orDie
)

/** The longest time without a success in a span, in milliseconds. What follows the span belongs to the next harm. */
const longestGap = (times: ReadonlyArray<number>, from: number, until: number) => {
  let longest = 0
  for (const [index, time] of times.entries()) {
    const before = times[index - 1] ?? time
    if (time > from && before < until) longest = Math.max(longest, Math.min(time, until) - before)
  }
  return longest
}

const spread = (millis: ReadonlyArray<number>): Spread => {
  const sorted = [...millis].sort((one, other) => one - other)
  return {
    median: (sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) / 1_000,
    most: (sorted.at(-1) ?? 0) / 1_000
  }
}
