import { Array, Clock, Effect, Fiber, type Scope } from "effect"

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

/** What became of an attempt. `broken` if the connection ended before the message was complete. */
export type Outcome = "accepted" | "postponed" | "unanswered" | "broken" | { readonly bounced: string }

/**
 * Carries mails, each returned by `next` and then told by `tell`, over one connection. Succeeds with false if a mail was
 * not accepted, so that a pause follows.
 */
export type Carrier = (
  mails: {
    /** Undefined if no mail is left. */
    readonly next: () => Sent | undefined
    readonly tell: (mail: Sent, outcome: Outcome) => Effect.Effect<void>
    /** The pause that keeps the rate. */
    readonly pause: Effect.Effect<void>
  },
  turn: number
) => Effect.Effect<boolean>

/** A text in every message, which must not appear in output and metrics. */
export const text = "Tell nobody but the agent"

/** Sends unique messages at a constant rate. Retries every message without a 250, with the same bytes. */
export const make = Effect.fn("Sender.make")(function* (options: {
  readonly carrier: Carrier
  readonly to: string
  readonly name: string
  readonly perSecond: number
  /** The number of concurrent connections. */
  readonly connections?: number
}): Effect.fn.Return<Sender, never, Scope.Scope> {
  const sent: Array<Sent> = []
  const bounced: Array<string> = []
  const again: Array<Sent> = []
  const { connections = 6 } = options
  let isFinishing = false

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

  const tell = Effect.fnUntraced(function* (mail: Sent, outcome: Outcome) {
    if (outcome === "accepted") mail.acceptedAt = yield* Clock.currentTimeMillis
    else if (typeof outcome === "object") bounced.push(`${mail.marker}: ${outcome.bounced}`)
    else {
      if (outcome !== "broken") mail[outcome]++
      again.push(mail)
    }
  })

  const pause = Effect.sleep(`${Math.round((connections / options.perSecond) * 1_000)} millis`)
  const session = Effect.fnUntraced(function* (first: number) {
    for (let turn = first; ; turn++) {
      const mayGoOn = yield* options.carrier({ next, tell, pause }, turn)
      yield* Effect.sleep(mayGoOn && !isFinishing ? "10 millis" : "200 millis")
    }
  })

  const sessions = yield* Effect.forkScoped(
    Effect.forEach(Array.range(1, connections), session, { concurrency: "unbounded", discard: true })
  )

  return {
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
