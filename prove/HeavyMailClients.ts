import { createServer, request } from "node:http"
import { platform, setPriority } from "node:os"
import { Array, Clock, Effect, Result } from "effect"
import { serve } from "../src/threads/Serving.ts"
import * as Mailbox from "../test/Mailbox.ts"
import * as Ports from "../test/Ports.ts"
import * as HeavyMails from "./HeavyMails.ts"

// The senders, the webhook and the readers of costly mails. Their thread has a low priority, because in production they
// run on other machines.
const niceness = 10
if (platform() === "linux") Result.try(() => setPriority(niceness))

/** Names the webhook, sends the costly mails, or requests their content. */
export type Task = "webhook" | Sending | Reading

export interface Sending {
  readonly smtpPort: number
  /** One of each workspace. */
  readonly addresses: ReadonlyArray<string>
  readonly mailsOfEach: number
  /** How long to wait for their events, in milliseconds. */
  readonly patience: number
}

export interface Reading {
  readonly requests: ReadonlyArray<{ readonly url: string; readonly key: string }>
  readonly millis: number
}

/** The event of a costly mail, as its webhook received it. */
export interface Heard {
  readonly eventId: string
  readonly domain: string
  readonly parse: string
}

export interface Sent {
  readonly replies: ReadonlyArray<string>
  readonly events: ReadonlyArray<Heard>
  /** From the first `250` to the last event, or to the end of the patience. */
  readonly millis: number
}

/** The answers to requests, counted by status. */
export interface Read {
  readonly statuses: Readonly<Record<number, number>>
}

export type Answer = string | Sent | Read

const connectionsOfEach = 4
const readers = 32

const heard = new Map<string, Heard>()

/** Starts a webhook that stores the needed part of each event. Returns its URL. */
const listen = Effect.gen(function* () {
  const server = createServer((request, response) => {
    const pieces: globalThis.Array<Buffer> = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      const { domain, event_id, parse } = JSON.parse(Buffer.concat(pieces).toString())
      heard.set(event_id, { eventId: event_id, domain, parse })
      response.end()
    })
  })
  const port = yield* Ports.free
  yield* Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void)))
  return `http://127.0.0.1:${port}/hook`
})

const mails = HeavyMails.all.map((mail) => mail.build())

/** Sends one mail. Equal ones would be deduplicated. The largest ones have no room for another field. */
const deliver = (smtpPort: number, address: string, workspace: number, number: number) =>
  Mailbox.deliver(
    smtpPort,
    address,
    Buffer.concat([
      Buffer.from(`X-Number: ${number}\r\n`),
      (mails[number % mails.length] ?? Buffer.alloc(0)).subarray(0, -32)
    ]),
    { localAddress: `127.0.2.${1 + workspace}` }
  )

const send = Effect.fnUntraced(function* ({
  addresses,
  mailsOfEach,
  patience,
  smtpPort
}: Sending): Effect.fn.Return<Sent> {
  let firstAt = 0
  const replies = yield* Effect.forEach(
    addresses,
    (address, workspace) =>
      Effect.forEach(
        Array.range(1, mailsOfEach),
        (number) =>
          Effect.tap(deliver(smtpPort, address, workspace, workspace + number), () =>
            Effect.map(Clock.currentTimeMillis, (now) => {
              if (firstAt === 0) firstAt = now
            })
          ),
        { concurrency: connectionsOfEach }
      ),
    { concurrency: "unbounded" }
  )
  while (heard.size < addresses.length * mailsOfEach && (yield* Clock.currentTimeMillis) - firstAt < patience) {
    yield* Effect.sleep("250 millis")
  }
  return { replies: replies.flat(), events: [...heard.values()], millis: (yield* Clock.currentTimeMillis) - firstAt }
})

/** Requests the content of an event. Returns the status. */
const content = ({ key, url }: Reading["requests"][number]) =>
  Effect.callback<number>((resume) => {
    const asked = request(url, { agent: false, localAddress: "127.0.0.9", headers: { authorization: `Bearer ${key}` } })
    asked.on("response", (response) => {
      response.resume()
      response.on("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
    })
    asked.on("error", () => resume(Effect.succeed(0)))
    asked.end()
    return Effect.sync(() => void asked.destroy())
  })

const read = Effect.fnUntraced(function* ({ millis, requests }: Reading): Effect.fn.Return<Read> {
  const until = (yield* Clock.currentTimeMillis) + millis
  const statuses: Record<number, number> = {}
  yield* Effect.forEach(
    Array.range(1, readers),
    Effect.fnUntraced(function* (reader) {
      for (let at = reader; (yield* Clock.currentTimeMillis) < until; at += readers) {
        const asked = requests[at % requests.length]
        const status = asked === undefined ? 0 : yield* content(asked)
        statuses[status] = (statuses[status] ?? 0) + 1
      }
    }),
    { concurrency: "unbounded", discard: true }
  )
  return { statuses }
})

serve<Task, Answer>((task) =>
  Effect.runPromise<Answer, never>(task === "webhook" ? listen : "smtpPort" in task ? send(task) : read(task))
)
