import { availableParallelism } from "node:os"
import { Clock, Context, Effect, Layer, Metric } from "effect"
import * as Content from "../content/Content.ts"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import type { ParserJob, Reload } from "./ParserJob.ts"
import { ParserWorker } from "./ParserWorker.ts"
import type { AttachmentResult, Handed, ReadResult, ReadTask, Task } from "./ReadTask.ts"
import { ThreadLimits } from "./ThreadLimits.ts"

/** A thread that can't start is not started again at once. */
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

/**
 * Threads that read messages, many of which go over and come back together. Whatever
 * the bytes do, the process stays free: a thread that parses one message for too long,
 * or takes too much memory, is stopped, and its messages are done again from the store:
 * the one it was at alone, the others among others. A message that fails alone is read
 * less deeply.
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
    /** A part of what an event says. Where its HTML can't be read, of its text alone. */
    content(said: Content.Said, request: Content.ContentRequest): Effect.Effect<Content.Content>
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
      const cores = availableParallelism()
      const mostThreads = Math.max(2, Math.min(4, cores))
      const now = () => clock.currentTimeMillisUnsafe()
      const log = (line: string, reason: string) => void Effect.runForkWith(context)(Effect.logWarning(line, reason))

      const threads = new Set<ParserWorker>()
      /** In the order they came; those that are done alone apart. */
      const waiting = { together: [] as Array<ParserJob>, alone: [] as Array<ParserJob> }
      let lastNumber = 0
      let startAgainAt = 0
      /** When a message had waited so long that another thread would have been worth it. */
      let shortAt = 0
      let isDispatching = false

      const start = (isAlone: boolean) => {
        threads.add(
          new ParserWorker({
            settings: { nameServers, authservId: mxHost, senderChecks },
            limits,
            isAlone,
            now,
            heard: (thread) => {
              // The one for suspicious work is not kept for the next.
              if (thread.isAlone && thread.isUsed && thread.jobs.size === 0) stop(thread)
              dispatchSoon()
            },
            ended: (thread, reason) => lose(thread, reason)
          })
        )
        running.updateUnsafe(threads.size, context)
      }

      /** Returns whether it was still one of ours. */
      const stop = (thread: ParserWorker): boolean => {
        const wasOurs = threads.delete(thread)
        if (wasOurs) {
          void thread.stop()
          running.updateUnsafe(threads.size, context)
        }
        return wasOurs
      }

      /** A lost message comes again, with its bytes from the store. */
      const again = (job: ParserJob) =>
        job.reload((message) => {
          if (message === undefined) return job.fail("its bytes can't be had again", false)
          job.message = message
          wait(job)
        })

      /** Stops a thread. The message it was parsing is the suspect; another one is suspected when its thread is lost a second time. */
      const lose = (thread: ParserWorker, reason: string) => {
        if (!stop(thread)) return
        lost.updateUnsafe(1, context)
        log("A parser thread was stopped; what it held is done again", reason)
        if (!thread.isReady) startAgainAt = now() + restartMilliseconds
        const suspect = thread.current()
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

      /** A thread with room for this; where all are busy one more is started, up to a bound. */
      const placeFor = (job: ParserJob): ParserWorker | undefined => {
        const candidates = [...threads].filter(({ isAlone }) => isAlone === job.isAlone)
        const free = candidates.find((thread) => thread.hasRoom(job))
        if (free !== undefined) return free
        // Two threads that share a core with SMTP and the API read no more than one, and cost its heap and its compiling.
        const isWorthMore = candidates.length + 1 < cores || candidates.every((thread) => thread.isHeld())
        const hasWaited = now() - job.since > (isWorthMore ? limits.waitMilliseconds : limits.crowdedMilliseconds)
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
        const handed = new Map<ParserWorker, Array<Handed>>()
        for (const jobs of [waiting.together, waiting.alone]) {
          let count = 0
          for (const job of jobs) {
            const { message } = job
            const thread = message === undefined ? undefined : placeFor(job)
            if (thread === undefined || message === undefined) break
            count++
            thread.take(job)
            job.message = undefined
            const batch = handed.get(thread) ?? []
            handed.set(thread, batch)
            batch.push({ number: job.number, task: job.task, message: movable(message) })
          }
          jobs.splice(0, count)
        }
        for (const [thread, batch] of handed) thread.hand(batch)
      }

      /** At the end of a turn, so that what came with the same packets goes over together. */
      const dispatchSoon = () => {
        if (isDispatching) return
        isDispatching = true
        setImmediate(dispatch)
      }

      const wait = (job: ParserJob) => {
        job.since = now()
        const jobs = job.isAlone ? waiting.alone : waiting.together
        jobs.push(job)
        dispatchSoon()
      }

      const run = (task: Task, message: Uint8Array, how: Pick<ParserJob, "reload" | "answer" | "fail">) =>
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

      const look = Effect.sync(() => {
        for (const thread of threads) {
          const trouble = thread.trouble()
          if (trouble !== undefined) lose(thread, trouble)
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
          return Promise.all(all.map((thread) => thread.stop()))
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
        content: Effect.fn("ParserThreads.content")((said, request) =>
          Effect.callback<Content.Content>((resume) =>
            run({ kind: "content", said, request }, new Uint8Array(), {
              reload: (then) => then(new Uint8Array()),
              // A content task is answered with what it asks for.
              answer: (result) => resume(Effect.succeed(result as Content.Content)),
              fail: (reason) =>
                resume(
                  Effect.as(
                    Effect.logWarning("The HTML of an event could not be read for its content", reason),
                    Content.read({ ...said, html: null }, request)
                  )
                )
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
