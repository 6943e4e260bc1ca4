import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import { Clock, Context, Effect, Layer, Metric, Schema } from "effect"
import * as Settings from "../Settings.ts"
import type { AttachmentResult, AttachmentTask, ReadResult, ReadTask, ThreadSettings, Told } from "./ParserThread.ts"

/** No thread could do it in time or memory, even on its own. */
export class Unparsable extends Schema.TaggedError<Unparsable>()("Unparsable", { reason: Schema.String }) {}

/** What bounds a thread. */
export interface ThreadLimits {
  /** Longest that parsing may take beside others, and alone. */
  readonly parseMilliseconds: number
  readonly aloneMilliseconds: number
  /** Longest from the end of parsing to the result: the sender's DNS is bounded by 5 s itself. */
  readonly checkMilliseconds: number
  /** Heap of one thread; the bytes of messages are outside of it. */
  readonly heapMegabytes: number
  /** After a wait this long one more thread is worth its memory, and after so long without such a wait it is not any more. */
  readonly waitMilliseconds: number
  readonly surplusMilliseconds: number
}

export const ThreadLimits = Context.Reference<ThreadLimits>("inlet/reading/ThreadLimits", {
  defaultValue: () => ({
    parseMilliseconds: 4_000,
    aloneMilliseconds: 6_000,
    checkMilliseconds: 7_000,
    heapMegabytes: 192,
    waitMilliseconds: 1_000,
    surplusMilliseconds: 300_000
  })
})

/** Messages a thread has to parse at once, and messages whose senders it checks at once. */
const parsesPerThread = 4
const tasksPerThread = 64

/** A thread that is not ready after this long is given up. */
const startMilliseconds = 30_000
const restartMilliseconds = 1_000

const messages = Metric.counter("inlet_messages_read_total", {
  description: "Messages that became events, by how much could be read"
})
const running = Metric.gauge("inlet_parser_threads", { description: "Parser threads that run" })
const lost = Metric.counter("inlet_parser_threads_lost_total", {
  description: "Parser threads that were stopped: too slow, out of memory, or broken"
})

const messagesBy = {
  full: Metric.withAttributes(messages, { parse: "full" }),
  partial: Metric.withAttributes(messages, { parse: "partial" }),
  headers: Metric.withAttributes(messages, { parse: "headers" })
}

interface Job {
  readonly id: number
  readonly task: ReadTask | AttachmentTask
  readonly resume: (result: Effect.Effect<ReadResult | AttachmentResult, Unparsable>) => void
  phase: "parsing" | "checking"
  since: number
  /** Its thread was lost once. */
  wasLost: boolean
  /** Suspected of the loss: it is tried again in a thread of its own. */
  alone: boolean
}

interface Thread {
  readonly worker: Worker
  readonly jobs: Map<number, Job>
  readonly alone: boolean
  readonly started: number
  isReady: boolean
}

/**
 * Threads that read messages. Whatever the bytes do, the process stays free: a
 * thread that takes too long or too much memory is stopped, and its messages are
 * done again. A message that fails in a thread of its own is read less deeply.
 */
export class ParserThreads extends Context.Service<
  ParserThreads,
  {
    /** Always gives a result: of the headers alone, or of the envelope, where no more can be read. */
    read(task: Omit<ReadTask, "kind" | "depth">, deepest: ReadTask["depth"]): Effect.Effect<ReadResult>
    /** Undefined when the message has no such attachment, or can't be parsed. */
    attachment(message: Uint8Array, index: number): Effect.Effect<AttachmentResult>
    /** Starts a thread, so that the first message does not wait for it. */
    readonly warmUp: Effect.Effect<void>
  }
>()("inlet/reading/ParserThreads") {
  static readonly layer = Layer.effect(
    ParserThreads,
    Effect.gen(function* () {
      const { mxHost, senderChecks } = yield* Settings.reading
      const { nameServers } = yield* Settings.dns
      const limits = yield* ThreadLimits
      const clock = yield* Clock.Clock
      const context = yield* Effect.context()
      const settings: ThreadSettings = { nameServers, authservId: mxHost, senderChecks }
      const mostThreads = Math.max(2, Math.min(4, availableParallelism()))

      const threads = new Set<Thread>()
      /** In the order they came. Suspects have a line of their own. */
      const waiting = { together: [] as Array<Job>, alone: [] as Array<Job> }
      let lastId = 0
      let startAgainAt = 0
      /** The last time a message had waited so long that another thread was worth it. */
      let shortAt = 0
      const log = (effect: Effect.Effect<void>) => void Effect.runForkWith(context)(effect)

      const now = () => clock.currentTimeMillisUnsafe()

      const start = (alone: boolean): Thread => {
        const worker = new Worker(new URL("./ParserThread.ts", import.meta.url), {
          workerData: settings,
          execArgv: [],
          // No secret of the environment comes near a sender's bytes.
          env: {},
          resourceLimits: { maxOldGenerationSizeMb: limits.heapMegabytes, maxYoungGenerationSizeMb: 32 }
        })
        const thread: Thread = { worker, jobs: new Map(), alone, started: now(), isReady: false }
        threads.add(thread)
        running.updateUnsafe(threads.size, context)
        worker.on("message", (told: Told) => hear(thread, told))
        worker.on("error", (error) => lose(thread, error.message))
        worker.on("exit", () => lose(thread, "the thread ended"))
        return thread
      }

      /** Returns whether it was still one of ours. */
      const stop = (thread: Thread): boolean => {
        const wasOurs = threads.delete(thread)
        if (wasOurs) {
          void thread.worker.terminate()
          running.updateUnsafe(threads.size, context)
        }
        return wasOurs
      }

      const hear = (thread: Thread, told: Told) => {
        if (told.tag === "ready") {
          thread.isReady = true
          return dispatch()
        }
        const job = thread.jobs.get(told.id)
        if (job === undefined) return
        if (told.tag === "parsed") {
          job.phase = "checking"
          job.since = now()
        } else {
          thread.jobs.delete(told.id)
          // A thread that had a suspect is not kept for the next one.
          if (thread.alone) stop(thread)
          job.resume(
            told.tag === "done" ? Effect.succeed(told.result) : Effect.fail(new Unparsable({ reason: told.reason }))
          )
        }
        dispatch()
      }

      /**
       * Stops a thread, and does its messages again. The first that was not parsed yet is a
       * suspect, for a thread takes them in turn. Any other becomes one when it is lost again.
       */
      const lose = (thread: Thread, reason: string) => {
        if (!stop(thread)) return
        lost.updateUnsafe(1, context)
        log(Effect.logWarning("A parser thread was stopped; what it held is done again", reason))
        // After a thread that could not even start, the next one waits a moment.
        if (!thread.isReady) startAgainAt = now() + restartMilliseconds
        const suspect = [...thread.jobs.values()].find(({ phase }) => phase === "parsing")
        for (const job of thread.jobs.values()) {
          if (job.alone) job.resume(Effect.fail(new Unparsable({ reason })))
          else {
            job.alone = job === suspect || job.wasLost
            job.wasLost = true
            job.phase = "parsing"
            wait(job)
          }
        }
        dispatch()
      }

      const isFree = ({ alone, isReady, jobs }: Thread) => {
        if (!isReady || jobs.size >= (alone ? 1 : tasksPerThread)) return false
        let parsing = 0
        for (const { phase } of jobs.values()) if (phase === "parsing") parsing++
        return parsing < parsesPerThread
      }

      /** A thread with room for this; where all are busy one more is started, up to a bound. */
      const placeFor = (job: Job): Thread | undefined => {
        const candidates = [...threads].filter(({ alone }) => alone === job.alone)
        const most = job.alone ? 1 : mostThreads
        const free = candidates.find(isFree)
        const mayStart = candidates.length < most && candidates.every(({ isReady }) => isReady) && now() >= startAgainAt
        const hasWaited = now() - job.since > limits.waitMilliseconds
        if (hasWaited && !job.alone) shortAt = now()
        const isWorth = candidates.length === 0 || job.alone || hasWaited
        if (free === undefined && mayStart && isWorth) start(job.alone)
        return free
      }

      const dispatch = () => {
        for (const jobs of [waiting.together, waiting.alone]) {
          for (let job = jobs[0]; job !== undefined; job = jobs[0]) {
            const thread = placeFor(job)
            if (thread === undefined) break
            jobs.shift()
            job.since = now()
            thread.jobs.set(job.id, job)
            thread.worker.postMessage({ id: job.id, task: job.task })
          }
        }
      }

      const wait = (job: Job) => void (job.alone ? waiting.alone : waiting.together).push(job)

      const run = (task: ReadTask | AttachmentTask) =>
        Effect.callback<ReadResult | AttachmentResult, Unparsable>((resume) => {
          const job: Job = { id: ++lastId, task, resume, phase: "parsing", since: now(), wasLost: false, alone: false }
          wait(job)
          dispatch()
          return Effect.sync(() => {
            for (const jobs of [waiting.together, waiting.alone]) {
              const at = jobs.indexOf(job)
              if (at !== -1) jobs.splice(at, 1)
            }
          })
        })

      const isLate = ({ alone, phase, since }: Job) =>
        now() - since >
        (phase === "checking" ? limits.checkMilliseconds : alone ? limits.aloneMilliseconds : limits.parseMilliseconds)

      const watch = Effect.sync(() => {
        for (const thread of threads) {
          if (!thread.isReady && now() - thread.started > startMilliseconds) lose(thread, "the thread did not start")
          else if ([...thread.jobs.values()].some(isLate)) lose(thread, "no result in time")
        }
        const [, ...others] = [...threads].filter(({ alone }) => !alone)
        const surplus = others.find(({ isReady, jobs }) => isReady && jobs.size === 0)
        if (surplus !== undefined && now() - shortAt > limits.surplusMilliseconds) stop(surplus)
        dispatch()
      })
      yield* Effect.forkScoped(
        Effect.forever(Effect.andThen(Effect.sleep(Math.min(250, limits.parseMilliseconds / 2)), watch))
      )

      yield* Effect.addFinalizer(() =>
        Effect.promise(() => {
          const all = [...threads]
          threads.clear()
          waiting.together.length = 0
          waiting.alone.length = 0
          return Promise.all(all.map(({ worker }) => worker.terminate()))
        })
      )

      const lessDeep = { full: "headers", headers: "nothing", nothing: "nothing" } as const

      const read: ParserThreads["Service"]["read"] = (task, deepest) =>
        run({ ...task, kind: "read", depth: deepest }).pipe(
          Effect.catchTag("Unparsable", ({ reason }) =>
            deepest === "nothing"
              ? Effect.die(new Error(`A message can't even be told by its envelope: ${reason}`))
              : Effect.andThen(
                  Effect.logWarning("A message could not be read in full; less of it is told", reason),
                  read(task, lessDeep[deepest])
                )
          ),
          // A read task is answered with a ReadResult.
          Effect.map((result) => result as ReadResult)
        )

      return ParserThreads.of({
        read: Effect.fnUntraced(function* (task, deepest) {
          const result = yield* read(task, deepest)
          yield* Metric.update(messagesBy[result.parse], 1)
          return result
        }),
        attachment: Effect.fn("ParserThreads.attachment")((message, index) =>
          run({ kind: "attachment", message, index }).pipe(
            Effect.catchTag("Unparsable", ({ reason }) =>
              Effect.as(Effect.logWarning("An attachment could not be decoded", reason), undefined)
            ),
            Effect.map((result) => result as AttachmentResult)
          )
        ),
        warmUp: Effect.sync(() => {
          if (threads.size === 0) start(false)
        })
      })
    })
  )
}
