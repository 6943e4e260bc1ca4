import { connect } from "node:net"
import { Duration, Effect, Fiber } from "effect"
import { ChildProcess } from "effect/process"
import * as InletProcess from "../test/InletProcess.ts"
import * as Ports from "../test/Ports.ts"
import * as Installation from "./Installation.ts"
import * as ProcessUsage from "./ProcessUsage.ts"
import { percentile } from "./Statistics.ts"
import * as SteadyLoad from "./SteadyLoad.ts"

/** Refused recipients of a session, after which the service ends it. */
const ofSession = 20

/** Names that the flood of unknown names goes through. */
const names = 100_000

/** Client addresses of the floods. */
const fewAddresses = (session: number) => `127.0.${1 + ((session >> 6) % 4)}.${1 + (session % 64)}`
const ownAddress = (session: number) => `127.${1 + (session >> 14)}.${(session >> 7) & 127}.${1 + (session & 127)}`

/** One session with refused recipients in one packet. Succeeds with what it was answered. */
const session = (port: number, number: number, localAddress: string, recipientOf: (number: number) => string) =>
  Effect.callback<{ readonly recipients: number; readonly isShut: boolean }>((resume) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress }).setEncoding("latin1")
    const recipients = Array.from({ length: ofSession }, (_, index) => recipientOf(number * ofSession + index))
    let refused = 0
    let isBegun = false
    let isShut = false
    socket.on("data", (reply: unknown) => {
      refused += String(reply).match(/^550 /gm)?.length ?? 0
      if (isBegun) return
      isShut = String(reply).startsWith("421")
      isBegun = true
      const lines = ["EHLO flood.example", "MAIL FROM:<a@flood.example>", ...recipients.map((to) => `RCPT TO:<${to}>`)]
      socket.write(`${lines.join("\r\n")}\r\n`)
    })
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed({ recipients: refused, isShut })))
  })

/** Tries recipients at this rate, until it has tried as many. */
const flood = Effect.fnUntraced(function* (
  port: number,
  perSecond: number,
  count: number,
  addressOf: (session: number) => string,
  recipientOf: (number: number) => string
) {
  const began = performance.now()
  const everyMillis = (1_000 * ofSession) / perSecond
  const sessions = Array.from({ length: Math.ceil(count / ofSession) }, (_, number) => number)
  const answers = yield* Effect.forEach(
    sessions,
    (number) => Effect.delay(session(port, number, addressOf(number), recipientOf), number * everyMillis),
    { concurrency: "unbounded" }
  )
  const seconds = (performance.now() - began) / 1_000
  return {
    tried: sessions.length * ofSession,
    perSecond: Math.round((sessions.length * ofSession) / seconds),
    refused: answers.reduce((all, { recipients }) => all + recipients, 0),
    shut: answers.filter(({ isShut }) => isShut).length
  }
})

/** A server that refuses every session, in a process of its own: what the sessions of a flood cost without Inlet. */
const closedServer = Effect.gen(function* () {
  const port = yield* Ports.free
  const code = `require("node:net").createServer((socket) => socket.on("error", () => {}).end("421 4.7.0 closed\\r\\n"))`
  yield* ChildProcess.make(process.execPath, ["--eval", `${code}.listen(${port}, "127.0.0.1")`])
  yield* Effect.sleep("1 second")
  return port
})

/** What the ledgers have after a flood. */
const ledger = Effect.fnUntraced(function* ({ sql }: Installation.Installation) {
  const [row] = yield* sql<{ readonly known: string; readonly unknown: string; readonly kilobytes: string }>`
    SELECT (SELECT count(*) || ' rows of ' || coalesce(sum(count), 0) FROM refusals) AS known,
      (SELECT count(*) || ' rows of ' || coalesce(sum(count), 0) FROM unknown_refusals) AS unknown,
      ((pg_total_relation_size('refusals') + pg_total_relation_size('unknown_refusals')) / 1000)::text AS kilobytes
  `
  return row ?? { known: "", unknown: "", kilobytes: "" }
})

/** Measures the mail of others, memory and tables beside refused recipients of a disabled domain and of unknown names. */
export const measure = Effect.fnUntraced(function* (perSecond: number, hasLedger: boolean) {
  const sender = yield* SteadyLoad.make
  const own = yield* Installation.make("inlet_refusal_flood", sender.url)
  const inlet = yield* InletProcess.start({ RETENTION_DAYS: "0", ...own.settings })
  yield* own.api.call("POST", "/admin/domains/customer0.example/disable", { key: "operator" })
  const load = { port: inlet.smtpPort, recipient: "user3@customer5.example", pace: { everyMillis: 20 } }
  const mail = (run: string, messages: number) => sender.run({ ...load, run, messages })
  const megabytes = Effect.map(ProcessUsage.residentMegabytes([inlet.pid]), (found) => found.toFixed(0))
  yield* mail("warm", 1_000)
  const quiet = yield* mail("quiet", 1_000)
  const of = (values: ReadonlyArray<number>) =>
    `${percentile(values, 0.5).toFixed(1)} / ${percentile(values, 0.99).toFixed(1)}`
  const row = (
    name: string,
    times: SteadyLoad.Times,
    memory: string,
    found: Effect.Success<ReturnType<typeof ledger>>
  ) =>
    `| ${name} | ${times.toReply.length} | ${of(times.toReply)} | ${of(times.toWebhook)} | ${memory} | ${found.known} | ${found.unknown} | ${found.kilobytes} |`
  const nothing = { known: "", unknown: "", kilobytes: "" }
  const cpu = ProcessUsage.cpuSeconds([inlet.pid])
  const rows = [row("without a flood", quiet, yield* megabytes, nothing)]

  const beside = Effect.fnUntraced(function* (
    port: number,
    name: string,
    count: number,
    addressOf: (session: number) => string,
    recipientOf: (number: number) => string
  ) {
    const before = yield* cpu
    const flooding = yield* Effect.forkScoped(flood(port, perSecond, count, addressOf, recipientOf))
    const messages = Math.floor((count / perSecond) * 50)
    const [took, times] = yield* Effect.timed(mail(name.replaceAll(" ", "-"), messages))
    const memory = yield* megabytes
    const sent = yield* Fiber.join(flooding)
    // The last batches are written.
    yield* Effect.sleep("3 seconds")
    const used = (((yield* cpu) - before) * 1_000_000) / sent.tried
    const told = `${name}, ${sent.perSecond}/s (${sent.tried} in ${Duration.toSeconds(took).toFixed(0)} s, ${used.toFixed(0)} µs of CPU each): ${sent.refused} answered 550, ${sent.shut} sessions refused`
    rows.push(row(told, times, memory, hasLedger ? yield* ledger(own) : nothing))
  })
  const disabled = (number: number) => `user${number}@customer0.example`
  const unknown = (number: number) => `someone@name-${number}.example`
  const other = yield* closedServer
  yield* beside(other, "another server that refuses sessions", 20 * perSecond, fewAddresses, disabled)
  yield* beside(inlet.smtpPort, "a disabled domain", 20 * perSecond, fewAddresses, disabled)
  yield* beside(inlet.smtpPort, "unknown names", names, fewAddresses, unknown)
  yield* beside(inlet.smtpPort, "an address for each session", 20 * perSecond, ownAddress, unknown)
  rows.push(row("without a flood, afterwards", yield* mail("after", 1_000), yield* megabytes, nothing))

  const { text } = yield* inlet.call("GET", "/metrics")
  const dropped = /^inlet_refusals_dropped_total (\d+)$/m.exec(text)?.[1] ?? "0"
  return [
    `Beside 50 mails a second of another tenant. The ledger dropped ${dropped} refusals without a count.`,
    "",
    "| refused recipients | mails | DATA → 250, p50 / p99 ms | DATA → webhook, p50 / p99 ms | RSS, MB | `refusals` | `unknown_refusals` | both, KB |",
    "|---|---|---|---|---|---|---|---|",
    ...rows
  ]
}, Effect.scoped)
