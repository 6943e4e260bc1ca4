import { NodeServices } from "@effect/platform-node"
import { Array, Duration, Effect, Fiber, FileSystem, Redacted } from "effect"
import * as WorkerThread from "../src/threads/WorkerThread.ts"
import { DnsServer } from "../test/DnsServer.ts"
import * as InletProcess from "../test/InletProcess.ts"
import { Cluster } from "./Cluster.ts"
import type * as HeavyMailClients from "./HeavyMailClients.ts"
import type { Had, Task } from "./Neighbour.ts"

/** Workspaces that receive costly mails while a neighbor receives ordinary ones, and the number of mails for each. */
export interface Scenario {
  readonly title: string
  readonly workspaces: number
  readonly mailsOfEach: number
  /** The p99 in milliseconds from the neighbor's `250` to its webhook. */
  readonly webhookP99: number
}

const one: Scenario = { title: "1 workspace receives 60 costly mails", workspaces: 1, mailsOfEach: 60, webhookP99: 300 }
const many: Scenario = {
  title: "60 workspaces receive 6 costly mails each",
  workspaces: 60,
  mailsOfEach: 6,
  webhookP99: 1_500
}

export const all = [one, many].flatMap((scenario) => [
  { scenario, database: "server" as const },
  { scenario, database: "embedded" as const }
])

/** The bounds of each scenario, in milliseconds. */
const bounds = { replyP99: 100, webhookMost: 2_000, eventWithin: 60_000 }

const sendMillis = 50_000
const readMillis = 50_000

export interface Verdict {
  readonly title: string
  readonly database: "server" | "embedded"
  readonly quiet: Had
  readonly sending: Had
  readonly reading: Had
  /** From the first `250` of a costly mail to the event of the last one, in milliseconds. */
  readonly events: number
  /** Costly mails by how completely they were parsed. */
  readonly parse: Readonly<Record<string, number>>
  /** Answers to content requests for costly mails, by status. */
  readonly answers: Readonly<Record<string, number>>
  readonly faults: ReadonlyArray<string>
}

const count = <Key extends PropertyKey>(keys: Iterable<Key>): Record<Key, number> => {
  const counts: Partial<Record<Key, number>> = {}
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1
  // Count by key.
  return counts as Record<Key, number>
}

const mixedUp = Effect.die(new Error("A thread gave the answer to another task"))

/** Runs one scenario against a service with default settings. */
export const run = Effect.fn("Neighbours.run")(
  function* (scenario: Scenario, database: "server" | "embedded", name: string) {
    const cluster = yield* Cluster
    const dns = yield* DnsServer
    const fs = yield* FileSystem.FileSystem
    yield* cluster.program("createdb", name)
    const url = new URL(Redacted.value(cluster.url))
    url.pathname = `/${name}`
    const inlet = yield* InletProcess.start({
      DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-neighbours-" }),
      DNS_SERVERS: dns.server,
      SECRETS_KEY: Buffer.from(name.padEnd(32, "!").slice(0, 32)).toString("base64"),
      ...(database === "server" ? { DATABASE_URL: url.href } : {})
    })
    const neighbour = yield* WorkerThread.make<Task, string | Had>(new URL("Neighbour.ts", import.meta.url))
    const inbox = yield* inlet.inbox(`${yield* neighbour.ask("webhook")}`)
    const clients = yield* WorkerThread.make<HeavyMailClients.Task, HeavyMailClients.Answer>(
      new URL("HeavyMailClients.ts", import.meta.url)
    )
    const hook = yield* clients.ask("webhook")
    const heavy = yield* Effect.forEach(Array.range(1, scenario.workspaces), () => inlet.inbox(`${hook}`))

    const work = Effect.fnUntraced(function* (when: string, millis: number) {
      const had = yield* neighbour.ask({ smtpPort: inlet.smtpPort, inbox, name: `${name}-${when}`, millis })
      return typeof had === "string" ? yield* Effect.die(new Error(had)) : had
    })
    /** Sends the neighbor's mails during the other work, for at least 15 s. */
    const beside = Effect.fnUntraced(function* <A, E, R>(when: string, millis: number, harm: Effect.Effect<A, E, R>) {
      const felt = yield* Effect.forkScoped(work(when, millis))
      const done = yield* harm
      return { done, had: yield* Fiber.join(felt) }
    })

    const total = scenario.workspaces * scenario.mailsOfEach
    const storm = Effect.flatMap(
      clients.ask({
        smtpPort: inlet.smtpPort,
        addresses: heavy.map(({ address }) => address),
        mailsOfEach: scenario.mailsOfEach,
        patience: 4 * bounds.eventWithin
      }),
      (sent) => (typeof sent === "object" && "replies" in sent ? Effect.succeed(sent) : mixedUp)
    )
    const inboxes = new Map(heavy.map((inbox) => [inbox.address.replace(/.*@/, ""), inbox]))
    const readAll = (events: ReadonlyArray<HeavyMailClients.Heard>) =>
      Effect.flatMap(
        clients.ask({
          millis: readMillis,
          requests: events.flatMap(({ domain, eventId }) => {
            const inbox = inboxes.get(domain)
            return inbox === undefined
              ? []
              : [{ url: `${inlet.url}/api/domains/${inbox.domainId}/events/${eventId}/content`, key: inbox.key }]
          })
        }),
        (read) => (typeof read === "object" && "statuses" in read ? Effect.succeed(read.statuses) : mixedUp)
      )

    const quiet = yield* work("quiet", 10_000)
    const { done, had: sending } = yield* beside("sending", sendMillis, storm)
    const { done: answers, had: reading } = yield* beside("reading", readMillis, readAll(done.events))
    const parse = count(done.events.map(({ parse }) => parse))
    const kept = done.replies.filter((reply) => reply.startsWith("250")).length
    const missing = total - done.events.length
    const isFelt = (when: string, had: Had) => [
      ...(had.webhookP99 <= scenario.webhookP99
        ? []
        : [`${when}: p99 from 250 to webhook ${Math.round(had.webhookP99)} ms, of ${scenario.webhookP99} allowed`]),
      ...(had.webhookMost <= bounds.webhookMost
        ? []
        : [`${when}: a webhook came after ${Math.round(had.webhookMost)} ms, of ${bounds.webhookMost} allowed`]),
      ...(had.replyP99 <= bounds.replyP99
        ? []
        : [`${when}: p99 of the 250 is ${Math.round(had.replyP99)} ms, of ${bounds.replyP99} allowed`])
    ]
    const verdict: Verdict = {
      title: scenario.title,
      database,
      quiet,
      sending,
      reading,
      events: done.millis,
      parse,
      answers,
      faults: [
        ...isFelt("while they are sent", sending),
        ...isFelt("while they are read", reading),
        ...(kept === total
          ? []
          : [
              `${total - kept} heavy mails were not answered 250: ${done.replies.find((reply) => !reply.startsWith("250"))}`
            ]),
        ...(missing === 0 ? [] : [`${missing} heavy mails have no event`]),
        ...(done.millis <= bounds.eventWithin
          ? []
          : [`the last event of a heavy mail came after ${Math.round(done.millis / 1_000)} s`]),
        ...((answers[200] ?? 0) > 0 ? [] : ["no content of a heavy mail could be read"])
      ]
    }
    return verdict
  },
  Effect.scoped,
  Effect.provide([NodeServices.layer, DnsServer.layer]),
  Effect.timeout(Duration.minutes(10)),
  Effect.orDie
)
