import { NodeServices } from "@effect/platform-node"
import { Clock, Effect, ManagedRuntime, Redacted, Scope } from "effect"
import * as Statistics from "../bench/Statistics.ts"
import { serve } from "../src/threads/Serving.ts"
import { eventually } from "../test/Eventually.ts"
import type { Inbox } from "../test/InletProcess.ts"
import * as Mailbox from "../test/Mailbox.ts"
import * as Receiver from "./Receiver.ts"

// Runs in a separate thread, so that the load of the attacker's clients does not distort the latency.

/** Names the webhook receiver, or sends mails for a time. */
export type Task = "webhook" | Work

export interface Work {
  readonly smtpPort: number
  readonly inbox: Inbox
  /** Distinguishes the mails of this task from others. */
  readonly name: string
  readonly millis: number
}

/** The latencies of the neighbor in milliseconds. */
export interface Had {
  readonly mails: number
  /** From the last dot to the reply. */
  readonly replyP99: number
  /** From the reply to the webhook. */
  readonly webhookP50: number
  readonly webhookP99: number
  readonly webhookMost: number
}

const every = 500

const work = Effect.fnUntraced(function* (
  receiver: Receiver.Receiver,
  { inbox, millis, name, smtpPort }: Work
): Effect.fn.Return<Had> {
  yield* receiver.trust(Redacted.make(inbox.secret))
  const until = (yield* Clock.currentTimeMillis) + millis
  const sent: Array<{ readonly subject: string; readonly took: number; readonly at: number }> = []
  while ((yield* Clock.currentTimeMillis) < until) {
    const began = yield* Clock.currentTimeMillis
    const subject = `${name}-${sent.length}`
    const message = `From: b@neighbour.example\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@neighbour>\r\n\r\nHello\r\n`
    yield* Effect.scoped(
      Effect.gen(function* () {
        const dialog = yield* Mailbox.begin(smtpPort, inbox.address)
        yield* dialog.say("DATA")
        const from = performance.now()
        yield* dialog.write(Mailbox.wire(message))
        const reply = yield* dialog.reply
        const took = reply.startsWith("250") ? performance.now() - from : Number.POSITIVE_INFINITY
        sent.push({ subject, took, at: yield* Clock.currentTimeMillis })
      })
    )
    yield* Effect.sleep(Math.max(0, began + every - (yield* Clock.currentTimeMillis)))
  }
  const heardAt = () => new Map([...receiver.events.values()].map(({ firstAt, marker }) => [marker, firstAt]))
  const kept = sent.filter(({ took }) => took < Number.POSITIVE_INFINITY)
  const heard = yield* eventually(
    Effect.sync(heardAt),
    (heard) => kept.every(({ subject }) => heard.has(subject)),
    "60 seconds"
  )
  const delays = kept.map(({ at, subject }) => (heard.get(subject) ?? Number.POSITIVE_INFINITY) - at)
  return {
    mails: sent.length,
    replyP99: Statistics.percentile(
      sent.map(({ took }) => took),
      0.99
    ),
    webhookP50: Statistics.median(delays),
    webhookP99: Statistics.percentile(delays, 0.99),
    webhookMost: Math.max(...delays)
  }
})

const receiver = await ManagedRuntime.make(NodeServices.layer).runPromise(
  Receiver.make.pipe(Effect.provideService(Scope.Scope, Scope.makeUnsafe()))
)

serve<Task, string | Had>((task) => (task === "webhook" ? receiver.url : Effect.runPromise(work(receiver, task))))
