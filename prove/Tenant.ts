import { NodeServices } from "@effect/platform-node"
import { Clock, Duration, Effect, FileSystem, ManagedRuntime, Redacted, Scope } from "effect"
import * as Statistics from "../bench/Statistics.ts"
import { serve } from "../src/threads/Serving.ts"
import { call } from "../test/ApiCall.ts"
import { eventually } from "../test/Eventually.ts"
import type { Inbox } from "../test/InletProcess.ts"
import * as Mail from "../test/Mail.ts"
import * as Receiver from "./Receiver.ts"

// Runs in a separate thread, so that the attacker's CPU use does not distort the latency.

/** Names the webhook receiver, or works for a time. */
export type Task = "webhook" | Work

export interface Work {
  readonly url: string
  readonly smtpPort: number
  readonly pid: number
  readonly inbox: Inbox
  /** Distinguishes the mails of this task from others. */
  readonly name: string
  readonly millis: number
}

/** The p99 latencies of the tenant, in milliseconds. */
export interface Felt {
  readonly api: number
  readonly smtp: number
  readonly delivery: number
  /** The peak memory of the process in MiB. */
  readonly memory: number
}

/** Measures a tenant for this time: lists, mails in sequence, and their webhooks. */
const work = Effect.fnUntraced(function* (receiver: Receiver.Receiver, task: Work) {
  const { inbox, millis, name, pid, smtpPort, url } = task
  yield* receiver.trust(Redacted.make(inbox.secret))
  const until = (yield* Clock.currentTimeMillis) + millis
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
      Effect.timed(call(url, "GET", `/api/domains/${inbox.domainId}/events?limit=10`, { key: inbox.key })).pipe(
        // A refusal does not count as an answer.
        Effect.map(([took, { status }]) => (status === 200 ? Duration.toMillis(took) : Number.POSITIVE_INFINITY))
      ),
    "50 millis"
  )
  const mails = again(
    Effect.fnUntraced(function* (number) {
      const subject = `${name}-${number}`
      const [took, isKept] = yield* Effect.timed(Effect.isSuccess(Mail.send(smtpPort, { to: inbox.address, subject })))
      return {
        subject,
        isKept,
        took: isKept ? Duration.toMillis(took) : Number.POSITIVE_INFINITY,
        at: yield* Clock.currentTimeMillis
      }
    }),
    "100 millis"
  )
  const memory = again(() => residentMiB(pid), "200 millis")
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

/** From procfs, see proc(5). */
const residentMiB = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  const status = yield* fs.readFileString(`/proc/${pid}/status`)
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024
}, Effect.provide(NodeServices.layer))

const receiver = await ManagedRuntime.make(NodeServices.layer).runPromise(
  Receiver.make.pipe(Effect.provideService(Scope.Scope, Scope.makeUnsafe()))
)

serve<Task, string | Felt>((task) => (task === "webhook" ? receiver.url : Effect.runPromise(work(receiver, task))))
