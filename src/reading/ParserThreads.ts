import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import { Clock, Context, Effect, Layer, Metric } from "effect"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import type {
  AttachmentResult,
  AttachmentTask,
  Handed,
  ReadResult,
  ReadTask,
  Results,
  ThreadSettings
} from "./ReadTask.ts"

/** What bounds a thread. */
export interface ThreadLimits {
  /** Longest that one message may be parsed, beside others and alone. */
  readonly parseMilliseconds: number
  readonly aloneMilliseconds: number
  /** Longest that a message may wait for the sender's DNS, which is bounded by 5 s itself. */
  readonly checkMilliseconds: number
  /** Heap of one thread; the bytes of messages are outside of it. */
  readonly heapMegabytes: number
  /** How long a message has waited when one more thread is worth its memory, and how long none has when it is not any more. */
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

/** What a thread has to parse at once, and how many messages in all, those that wait for DNS among them. */
const mostToParse = 16
const mostBytesToParse = 1024 * 1024
const mostOfThread = 64

/** A thread that is not there after this long never will be. */
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

/** The stored message, anew: a thread that is lost takes its bytes along. */
export type Reload = (then: (message: Uint8Array | undefined) => void) => void

interface Job {
  readonly number: number
  readonly task: ReadTask | AttachmentTask
  message: Uint8Array | undefined
  readonly bytes: number
  readonly reload: Reload
  readonly answer: (result: ReadResult | AttachmentResult) => void
  /** No thread could do it, even alone; or its bytes can't be had. */
  readonly fail: (reason: string, isUnparsable: boolean) => void
  /** When it began to wait, then when a thread was given it. */
  since: number
  isAside: boolean
  /** Was on a thread that was lost. */
  wasLost: boolean
  /** Is suspected of it: it is tried again where it can harm no other. */
  isAlone: boolean
}

interface Thread {
  readonly worker: Worker
  readonly jobs: Map<number, Job>
  readonly isAlone: boolean
  readonly started: number
  readonly current: Int32Array
  isReady: boolean
  /** Of those that are to be parsed. */
  toParse: number
  bytesToParse: number
  /** The message that was being parsed at the last look, and since when. */
  seen: number
  seenAt: number
}

/**
 * Threads that read messages, many of which go over and come back together. Whatever
 * the bytes do, the process stays free: a thread that parses one message for too long,
 * or takes too much memory, is stopped, and what it held is done again from the store:
 * the message it was at alone, the others among others. A message that fails alone is
 * read less deeply.
 */
export class ParserThreads extends Context.Service<
  ParserThreads,
  {
    /**
     * Reads a message, whose bytes are a thread's from then on. `answer` gets a result in
     * every case but one, of the headers alone or of the envelope where there is no more to
     * be had; `fail` is called when the bytes of a message that has to be read again are gone.
     */
    read(
      task: ReadTask,
      message: Uint8Array,
      how: {
        readonly reload: Reload
        readonly answer: (result: ReadResult) => void
        readonly fail: (reason: string) => void
      }
    ): void
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
      const mostThreads = Math.max(2, Math.min(4, availableParallelism()))
      const now = () => clock.currentTimeMillisUnsafe()
      const log = (line: string, reason: string) => void Effect.runForkWith(context)(Effect.logWarning(line, reason))

      const threads = new Set<Thread>()
      /** In the order they came; those that are done alone apart. */
      const waiting = { together: [] as Array<Job>, alone: [] as Array<Job> }
      let lastNumber = 0
      let startAgainAt = 0
      /** When a message had waited so long that another thread would have been worth it. */
      let shortAt = 0
      let isDispatching = false

      const start = (isAlone: boolean): Thread => {
        const current = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
        const settings: ThreadSettings = { nameServers, authservId: mxHost, senderChecks, current }
        const worker = new Worker(new URL("./ParserThread.ts", import.meta.url), {
          workerData: settings,
          execArgv: [],
          // No secret of the environment comes near a sender's bytes.
          env: {},
          resourceLimits: { maxOldGenerationSizeMb: limits.heapMegabytes, maxYoungGenerationSizeMb: 32 }
        })
        const thread: Thread = {
          worker,
          jobs: new Map(),
          isAlone,
          started: now(),
          current,
          isReady: false,
          toParse: 0,
          bytesToParse: 0,
          seen: 0,
          seenAt: now()
        }
        threads.add(thread)
        running.updateUnsafe(threads.size, context)
        worker.on("message", (told: "ready" | Results) => hear(thread, told))
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

      const isParsed = (thread: Thread, job: Job) => {
        if (job.isAside) return
        job.isAside = true
        thread.toParse--
        thread.bytesToParse -= job.bytes
      }

      const taken = (thread: Thread, number: number): Job | undefined => {
        const job = thread.jobs.get(number)
        if (job === undefined) return undefined
        thread.jobs.delete(number)
        isParsed(thread, job)
        return job
      }

      const hear = (thread: Thread, told: "ready" | Results) => {
        if (told === "ready") thread.isReady = true
        else {
          for (const number of told.aside) {
            const job = thread.jobs.get(number)
            if (job !== undefined) isParsed(thread, job)
          }
          let at = 0
          for (const { lengths, number, ...result } of told.read) {
            const payloads = lengths.map((length) => {
              at += length
              return new Uint8Array(told.payloads, at - length, length)
            })
            taken(thread, number)?.answer({ ...result, payloads })
          }
          for (const { attachment, number } of told.attachments) taken(thread, number)?.answer(attachment)
          for (const { number, reason } of told.failed) taken(thread, number)?.fail(reason, true)
          // The one for suspicious work is not kept for the next.
          if (thread.isAlone && thread.jobs.size === 0) stop(thread)
        }
        dispatchSoon()
      }

      /** What was lost with its thread comes again, with its bytes from the store. */
      const again = (job: Job) => {
        job.reload((message) => {
          if (message === undefined) return job.fail("its bytes can't be had again", false)
          job.message = message
          wait(job)
        })
      }

      /** Stops a thread. The message it was parsing is the suspect; another one is suspected when its thread is lost a second time. */
      const lose = (thread: Thread, reason: string) => {
        if (!stop(thread)) return
        lost.updateUnsafe(1, context)
        log("A parser thread was stopped; what it held is done again", reason)
        // One that can't even start is not started again and again.
        if (!thread.isReady) startAgainAt = now() + restartMilliseconds
        const suspect = Atomics.load(thread.current, 0)
        for (const job of thread.jobs.values()) {
          if (job.isAlone) job.fail(reason, true)
          else {
            job.isAlone = job.number === suspect || job.wasLost
            job.wasLost = true
            job.isAside = false
            again(job)
          }
        }
        dispatchSoon()
      }

      const hasRoom = ({ bytesToParse, isAlone, isReady, jobs, toParse }: Thread, job: Job) =>
        isReady &&
        (jobs.size === 0 ||
          (!isAlone &&
            jobs.size < mostOfThread &&
            toParse < mostToParse &&
            (toParse === 0 || bytesToParse + job.bytes <= mostBytesToParse)))

      /** A thread with room for this; where all are busy one more is started, up to a bound. */
      const placeFor = (job: Job): Thread | undefined => {
        const candidates = [...threads].filter(({ isAlone }) => isAlone === job.isAlone)
        const free = candidates.find((thread) => hasRoom(thread, job))
        if (free !== undefined) return free
        const hasWaited = now() - job.since > limits.waitMilliseconds
        if (hasWaited && !job.isAlone) shortAt = now()
        const mayStart =
          candidates.length < (job.isAlone ? 1 : mostThreads) &&
          candidates.every(({ isReady }) => isReady) &&
          now() >= startAgainAt
        if (mayStart && (candidates.length === 0 || job.isAlone || hasWaited)) start(job.isAlone)
        return undefined
      }

      const dispatch = () => {
        isDispatching = false
        const handed = new Map<Thread, Array<Handed>>()
        for (const jobs of [waiting.together, waiting.alone]) {
          let count = 0
          for (const job of jobs) {
            const { message } = job
            const thread = message === undefined ? undefined : placeFor(job)
            if (thread === undefined || message === undefined) break
            count++
            thread.jobs.set(job.number, job)
            thread.toParse++
            thread.bytesToParse += job.bytes
            job.since = now()
            job.message = undefined
            const own = handed.get(thread)
            const next = { number: job.number, task: job.task, message: movable(message) }
            if (own === undefined) handed.set(thread, [next])
            else own.push(next)
          }
          jobs.splice(0, count)
        }
        for (const [thread, batch] of handed) {
          thread.worker.postMessage(
            batch,
            batch.map(({ message }) => message.buffer)
          )
        }
      }

      /** At the end of a turn, so that what came with the same packets goes over together. */
      const dispatchSoon = () => {
        if (isDispatching) return
        isDispatching = true
        setImmediate(dispatch)
      }

      const wait = (job: Job) => {
        job.since = now()
        ;(job.isAlone ? waiting.alone : waiting.together).push(job)
        dispatchSoon()
      }

      const run = (
        task: ReadTask | AttachmentTask,
        message: Uint8Array,
        how: Pick<Job, "reload" | "answer" | "fail">
      ) =>
        wait({
          ...how,
          number: ++lastNumber,
          task,
          message,
          bytes: message.byteLength,
          since: 0,
          isAside: false,
          wasLost: false,
          isAlone: false
        })

      /** Whether a thread has parsed one message for too long, or says no more about those that wait for DNS. */
      const isLate = (thread: Thread): boolean => {
        const number = Atomics.load(thread.current, 0)
        if (number !== thread.seen) {
          thread.seen = number
          thread.seenAt = now()
        }
        const since = now() - thread.seenAt
        if (number === 0) {
          return (
            since > limits.checkMilliseconds &&
            [...thread.jobs.values()].some((job) => now() - job.since > limits.checkMilliseconds)
          )
        }
        return since > (thread.isAlone ? limits.aloneMilliseconds : limits.parseMilliseconds)
      }

      const look = Effect.sync(() => {
        for (const thread of threads) {
          if (!thread.isReady && now() - thread.started > startMilliseconds) lose(thread, "the thread did not start")
          else if (isLate(thread)) lose(thread, "no result in time")
        }
        const [, ...others] = [...threads].filter(({ isAlone }) => !isAlone)
        const surplus = others.find(({ isReady, jobs }) => isReady && jobs.size === 0)
        if (surplus !== undefined && now() - shortAt > limits.surplusMilliseconds) stop(surplus)
        dispatchSoon()
      })
      yield* BackgroundLoop.every(
        Math.min(250, limits.parseMilliseconds / 2),
        "A look at the parser threads failed",
        look
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

      const lessDeep = { full: "headers", headers: "nothing" } as const

      const read: ParserThreads["Service"]["read"] = (task, message, how) =>
        run(task, message, {
          reload: how.reload,
          answer: (result) => {
            // A read task is answered with what it asks for.
            const read = result as ReadResult
            messagesBy[read.parse].updateUnsafe(1, context)
            how.answer(read)
          },
          fail: (reason, isUnparsable) => {
            const { depth } = task
            if (!isUnparsable || depth === "nothing") return how.fail(reason)
            log("A message could not be read in full; less of it is told", reason)
            const less: ReadTask = { ...task, depth: lessDeep[depth] }
            how.reload((message) =>
              message === undefined ? how.fail("its bytes can't be had again") : read(less, message, how)
            )
          }
        })

      return ParserThreads.of({
        read,
        attachment: Effect.fn("ParserThreads.attachment")((message, index) =>
          Effect.callback<AttachmentResult>((resume) =>
            run({ kind: "attachment", index }, new Uint8Array(message), {
              reload: (then) => then(new Uint8Array(message)),
              // An attachment task is answered with what it asks for.
              answer: (result) => resume(Effect.succeed(result as AttachmentResult)),
              fail: (reason) =>
                resume(Effect.as(Effect.logWarning("An attachment could not be decoded", reason), undefined))
            })
          )
        ),
        warmUp: Effect.sync(() => {
          if (threads.size === 0) start(false)
        })
      })
    })
  )
}

/** With memory of its own, which is handed over whole. */
const movable = (message: Uint8Array): Uint8Array<ArrayBuffer> => {
  const { buffer, byteLength } = message
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(message)
}
