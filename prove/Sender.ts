import { Array, Clock, Effect, Fiber } from "effect"
import * as SmtpDialog from "../test/SmtpDialog.ts"

/** One message and its outcome. */
export interface Sent {
  readonly marker: string
  readonly message: string
  /** The number of temporary refusals. */
  postponed: number
  /** The number of attempts without an answer after the last dot, when the sender does not know the outcome. */
  unanswered: number
  /** When it was answered 250. */
  acceptedAt: number | undefined
}

export interface Sender {
  readonly sent: ReadonlyArray<Sent>
  /** Permanent refusals, which must not occur. */
  readonly bounced: ReadonlyArray<string>
  /** Starts no more messages, and waits up to 1 min for the answers to those started. */
  readonly finish: Effect.Effect<void>
}

/** A text in every message, which must not appear in output and metrics. */
export const text = "Tell nobody but the agent"

/** The number of concurrent connections. */
const connections = 6

/** Messages over one connection. */
const messagesPerConnection = 20

/**
 * A mail server that sends unique messages at a constant rate to the first reachable one of these ports. It retries
 * every message without a 250, with the same bytes.
 */
export const make = Effect.fn("Sender.make")(function* (options: {
  readonly ports: ReadonlyArray<number>
  readonly to: string
  readonly name: string
  readonly perSecond: number
}) {
  const sent: Array<Sent> = []
  const bounced: Array<string> = []
  const again: Array<Sent> = []
  let isFinishing = false
  const pause = Effect.sleep(`${Math.round((connections / options.perSecond) * 1_000)} millis`)

  const next = () => {
    const one = again.shift()
    if (one !== undefined || isFinishing) return one
    const marker = `${options.name}-${sent.length + 1}`
    const fresh: Sent = {
      marker,
      message: messageOf(marker, options.to, sent.length),
      postponed: 0,
      unanswered: 0,
      acceptedAt: undefined
    }
    sent.push(fresh)
    return fresh
  }

  /** Sends one message. Returns whether the next may follow at once. */
  const transmit = Effect.fnUntraced(function* (dialog: SmtpDialog.SmtpDialog, one: Sent) {
    for (const line of ["MAIL FROM:<sender@sender.example>", `RCPT TO:<${options.to}>`, "DATA"]) {
      const reply = yield* dialog.say(line)
      if (/^[23]5/.test(reply)) continue
      if (reply.startsWith("4")) one.postponed++
      if (reply.startsWith("5")) bounced.push(`${one.marker}: ${reply}`)
      else again.push(one)
      return false
    }
    const reply = yield* dialog.say(`${one.message}\r\n.`)
    if (reply.startsWith("250")) {
      one.acceptedAt = yield* Clock.currentTimeMillis
      return true
    }
    if (reply.startsWith("5")) {
      bounced.push(`${one.marker}: ${reply}`)
      return true
    }
    if (reply.startsWith("4")) one.postponed++
    else one.unanswered++
    again.push(one)
    return false
  })

  const connect = Effect.fnUntraced(function* (port: number) {
    const dialog = yield* SmtpDialog.open(port)
    if (!dialog.greeting.startsWith("220") || !(yield* dialog.say("EHLO sender.example")).startsWith("250"))
      return false
    for (let count = 0; count < messagesPerConnection; count++) {
      const one = next()
      if (one === undefined) return true
      if (!(yield* transmit(dialog, one))) return false
      yield* pause
    }
    yield* dialog.say("QUIT")
    return true
  }, Effect.scoped)

  const session = Effect.fnUntraced(function* (first: number) {
    for (let turn = first; ; turn++) {
      const port = options.ports[turn % options.ports.length] ?? 0
      const mayGoOn = yield* connect(port)
      yield* Effect.sleep(mayGoOn && !isFinishing ? "10 millis" : "200 millis")
    }
  })

  const sessions = yield* Effect.forkScoped(
    Effect.forEach(Array.range(1, connections), session, { concurrency: "unbounded", discard: true })
  )

  const sender: Sender = {
    sent,
    bounced,
    finish: Effect.gen(function* () {
      isFinishing = true
      yield* Effect.sleep("50 millis").pipe(
        Effect.repeat({
          until: () => sent.filter(({ acceptedAt }) => acceptedAt !== undefined).length + bounced.length >= sent.length
        }),
        Effect.timeoutOption("60 seconds")
      )
      yield* Fiber.interrupt(sessions)
    })
  }
  return sender
})

/** From 0.5 to 10 KB. */
const messageOf = (marker: string, to: string, number: number) =>
  [
    "From: Sender <sender@sender.example>",
    `To: ${to}`,
    `Subject: ${marker}`,
    `Message-ID: <${marker}@sender.example>`,
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "",
    ...Array.replicate(`${text}: ${marker}.`, 10 + ((number * 37) % 250))
  ].join("\r\n")
