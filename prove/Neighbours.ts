import { createServer, request } from "node:http"
import { NodeServices } from "@effect/platform-node"
import { Array, Clock, Duration, Effect, Fiber, FileSystem, Redacted } from "effect"
import * as WorkerThread from "../src/threads/WorkerThread.ts"
import { DnsServer } from "../test/DnsServer.ts"
import * as InletProcess from "../test/InletProcess.ts"
import * as Mailbox from "../test/Mailbox.ts"
import * as Ports from "../test/Ports.ts"
import { Cluster } from "./Cluster.ts"
import * as HeavyMails from "./HeavyMails.ts"
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

const connectionsOfEach = 4
const readers = 32
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

/** Requests the content of an event. Returns the status. */
const content = (url: string, key: string, localAddress: string) =>
  Effect.callback<number>((resume) => {
    const asked = request(url, { agent: false, localAddress, headers: { authorization: `Bearer ${key}` } })
    asked.on("response", (response) => {
      response.resume()
      response.on("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
    })
    asked.on("error", () => resume(Effect.succeed(0)))
    asked.end()
    return Effect.sync(() => void asked.destroy())
  })

/** The event of a costly mail, as its webhook received it. */
interface Heard {
  readonly eventId: string
  readonly domain: string
  readonly parse: string
}

/** A webhook that stores the needed part of each event. */
const listening = Effect.gen(function* () {
  const heard = new Map<string, Heard>()
  const server = createServer((request, response) => {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      const { domain, event_id, parse } = JSON.parse(Buffer.concat(pieces).toString())
      heard.set(event_id, { eventId: event_id, domain, parse })
      response.end()
    })
  })
  const port = yield* Ports.free
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  return { heard, url: `http://127.0.0.1:${port}/hook` }
})

const count = <Key extends PropertyKey>(keys: Iterable<Key>): Record<Key, number> => {
  const counts: Partial<Record<Key, number>> = {}
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1
  // Count by key.
  return counts as Record<Key, number>
}

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
    const { heard, url: hook } = yield* listening
    const heavy = yield* Effect.forEach(Array.range(1, scenario.workspaces), () => inlet.inbox(hook))
    const mails = HeavyMails.all.map((mail) => mail.build())

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

    // Equal messages would be deduplicated. The largest ones have no room for another field.
    const deliver = (address: string, workspace: number, number: number) =>
      Mailbox.deliver(
        inlet.smtpPort,
        address,
        Buffer.concat([
          Buffer.from(`X-Number: ${number}\r\n`),
          (mails[number % mails.length] ?? Buffer.alloc(0)).subarray(0, -32)
        ]),
        { localAddress: `127.0.2.${1 + workspace}` }
      )
    let firstAt = 0
    const send = Effect.forEach(
      heavy,
      ({ address }, workspace) =>
        Effect.forEach(
          Array.range(1, scenario.mailsOfEach),
          (number) =>
            Effect.tap(deliver(address, workspace, workspace + number), () =>
              Effect.map(Clock.currentTimeMillis, (now) => {
                if (firstAt === 0) firstAt = now
              })
            ),
          { concurrency: connectionsOfEach }
        ),
      { concurrency: "unbounded" }
    )
    const total = scenario.workspaces * scenario.mailsOfEach
    /** Waits until the webhook has the events of all costly mails, or until four times the allowed time. */
    const arrived = Effect.gen(function* () {
      while (heard.size < total && (yield* Clock.currentTimeMillis) - firstAt < 4 * bounds.eventWithin) {
        yield* Effect.sleep("250 millis")
      }
      return [...heard.values()]
    })
    const storm = Effect.gen(function* () {
      const replies = (yield* send).flat()
      const events = yield* arrived
      return { replies, events, millis: (yield* Clock.currentTimeMillis) - firstAt }
    })
    const readAll = (events: ReadonlyArray<Heard>) =>
      Effect.gen(function* () {
        const until = (yield* Clock.currentTimeMillis) + readMillis
        const inboxes = new Map(heavy.map((inbox) => [inbox.address.replace(/.*@/, ""), inbox]))
        const paths = events.flatMap(({ domain, eventId }) => {
          const inbox = inboxes.get(domain)
          return inbox === undefined
            ? []
            : [{ path: `/api/domains/${inbox.domainId}/events/${eventId}/content`, key: inbox.key }]
        })
        const statuses: Array<number> = []
        yield* Effect.forEach(
          Array.range(1, readers),
          Effect.fnUntraced(function* (reader) {
            for (let at = reader; (yield* Clock.currentTimeMillis) < until; at += readers) {
              const { key, path } = paths[at % paths.length] ?? { key: "", path: "" }
              statuses.push(yield* content(`${inlet.url}${path}`, key, "127.0.0.9"))
            }
          }),
          { concurrency: "unbounded", discard: true }
        )
        return count(statuses)
      })

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
