import { MessageChannel, type MessagePort, Worker } from "node:worker_threads"
import * as PortDns from "../sender/PortDns.ts"
import * as ThreadEnvironment from "../threads/ThreadEnvironment.ts"
import * as CarriedBytes from "./CarriedBytes.ts"
import type { ParserJob } from "./ParserJob.ts"
import {
  type Batch,
  mostBytesToParse,
  mostMillisecondsToParse,
  mostToParse,
  type Results,
  type ThreadSettings
} from "./ReadTask.ts"
import * as ThreadLimits from "./ThreadLimits.ts"

/** Maximum messages in a thread, including those waiting for DNS. */
export const mostOfThread = 512

/** A thread that did not start within this time never will. */
const startMilliseconds = 30_000

/** The multiple of the CPU limit, in elapsed time, beyond which a thread on a busy machine counts as stuck. */
const mostOfClock = 20

/** The same if Node does not report a thread's CPU time (before 24.6). Slow messages get a tenth of a busy machine. */
const mostOfClockUnmeasured = 12

/** CPU time in milliseconds that a new thread mostly spends on compiling the parser. Estimates leave it out. */
const coldMilliseconds = 300

/**
 * Milliseconds in a thread after which a message that was guessed to be slow counts as slow. A new thread gets the time
 * for compiling the parser in addition.
 */
const provenMilliseconds = 100

/** Why a thread must be terminated, and the message that is certainly the culprit. */
export interface Trouble {
  readonly reason: string
  readonly culprit: number | undefined
}

/** The settings of a thread. `resolve` answers its DNS queries instead of the name servers. */
export type WorkerSettings = Omit<ThreadSettings, "current" | "dnsPort"> & {
  readonly resolve?: PortDns.Resolve | undefined
}

/**
 * The process's view of a parser thread: its tasks, and whether it is late. A task's bytes are transferred to the
 * thread, and results arrive in batches.
 */
export class ParserWorker {
  readonly jobs = new Map<number, ParserJob>()
  isReady = false
  #isStopped = false
  /** Whether it has received a message. */
  isUsed = false
  /**
   * `slow` takes slow messages with a lower priority, and others when the rest has no room. `suspect` takes one message
   * and then ends.
   */
  readonly takes: "any" | "slow" | "suspect"
  readonly #worker: Worker
  readonly #dnsPort: MessagePort | undefined
  readonly #limits: ThreadLimits.ThreadLimits
  readonly #now: () => number
  readonly #parsed: (job: ParserJob) => void
  readonly #started: number
  /** Shared with the thread: the number of the current message, 0 without one. */
  readonly #current = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  /** Bytes of the messages to parse. */
  #toParse = 0
  #bytesToParse = 0
  #millisecondsToParse = 0
  readonly #slowToParse = new Set<ParserJob>()
  #coldMilliseconds = coldMilliseconds
  /** Number of slow messages, including those waiting for DNS or held. */
  slow = 0
  /** The current message at the last check, and its start in elapsed and CPU time. */
  #seen = 0
  #seenAt: number
  #processorAt: number | undefined
  #processor: number | undefined

  constructor(options: {
    readonly settings: WorkerSettings
    readonly limits: ThreadLimits.ThreadLimits
    readonly takes: ParserWorker["takes"]
    readonly now: () => number
    /** Called when the thread is ready or has answered, and may have a free slot. */
    readonly heard: () => void
    /** Called when a job is done, waits for an answer, or is held. `used` has its CPU time. */
    readonly parsed: (job: ParserJob) => void
    readonly ended: (reason: string) => void
  }) {
    const { ended, heard, limits, now, parsed, takes } = options
    const { resolve, ...settings } = options.settings
    this.takes = takes
    this.#limits = limits
    this.#now = now
    this.#parsed = parsed
    this.#started = now()
    this.#seenAt = this.#started
    const dns = resolve && PortDns.serve(new MessageChannel(), resolve)
    this.#dnsPort = dns?.port1
    const workerData: ThreadSettings = { ...settings, current: this.#current, dnsPort: dns?.port2 }
    this.#worker = new Worker(new URL(settings.script), {
      workerData,
      transferList: dns === undefined ? [] : [dns.port2],
      execArgv: [],
      // Keeps the environment's secrets away from senders' bytes.
      env: ThreadEnvironment.variables,
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMegabytes, maxYoungGenerationSizeMb: 32 }
    })
    this.#worker.on("message", (told: "ready" | Results) => {
      // Its jobs are parsed again elsewhere.
      if (this.#isStopped) return
      if (told === "ready") this.isReady = true
      else this.#hear(told)
      heard()
    })
    this.#worker.on("error", (error) => ended(error.message))
    this.#worker.on("exit", () => ended("the thread ended"))
  }

  /** True if the thread can take one more message of any size. */
  hasRoom(): boolean {
    if (!this.isReady) return false
    if (this.takes === "suspect") return this.jobs.size === 0
    return this.jobs.size < mostOfThread && this.canParse()
  }

  /** True if so many messages wait in it that new ones may soon find no place. */
  get isCrowded(): boolean {
    return this.jobs.size >= mostOfThread / 4
  }

  /** True if it can parse one more message, of any size, that it holds. */
  canParse(): boolean {
    return (
      this.#toParse < mostToParse &&
      this.#bytesToParse < mostBytesToParse &&
      this.#millisecondsToParse < mostMillisecondsToParse
    )
  }

  /** Estimated CPU time of its messages to parse in milliseconds. */
  get load(): number {
    return this.#millisecondsToParse
  }

  /** True if it has a message to parse that is expected to be slow. */
  isSlow(): boolean {
    return this.#slowToParse.size > 0
  }

  /** True if such a message is known to be slow, or has been in the thread for long. */
  isProvenSlow(): boolean {
    const proven = provenMilliseconds + this.#coldMilliseconds
    for (const { isGuess, since } of this.#slowToParse) {
      if (!isGuess || this.#now() - since > proven) return true
    }
    return false
  }

  /** Counts a new job, or a held one as released. */
  take(job: ParserJob) {
    this.isUsed = true
    if (job.isSlow && !this.jobs.has(job.number)) this.slow++
    this.jobs.set(job.number, job)
    job.state = "parsing"
    job.since = this.#now()
    this.#toParse++
    this.#bytesToParse += job.bytes
    this.#millisecondsToParse += job.estimate
    if (job.estimate >= this.#limits.slowMilliseconds) this.#slowToParse.add(job)
  }

  hand(batch: Batch) {
    this.#worker.postMessage(
      batch,
      batch.handed.map(({ message }) => message.buffer)
    )
  }

  /** The number of the current message. */
  current(): number {
    return Atomics.load(this.#current, 0)
  }

  /** True if it has parsed one message for so long that others should move to another thread. */
  isHeld(): boolean {
    const number = this.current()
    return number !== 0 && number === this.#seen && this.#now() - this.#seenAt > this.#limits.waitMilliseconds
  }

  /** Why it must be terminated: one message took too much CPU time, or messages that wait for DNS got no result. */
  trouble(): Trouble | undefined {
    const age = this.#now() - this.#started
    if (!this.isReady) return age > startMilliseconds ? blameless("the thread did not start") : undefined
    const number = this.current()
    if (number !== this.#seen) {
      this.#seen = number
      this.#seenAt = this.#now()
      this.#processorAt = undefined
      this.#processor = undefined
    }
    const since = this.#now() - this.#seenAt
    if (number === 0) return this.#isChecking(since) ? blameless("no result of a sender's check in time") : undefined
    this.#measure(number)
    const limit = ThreadLimits.parseTime(this.#limits, this.jobs.get(number)?.bytes ?? 0)
    const spent = this.#processorAt === undefined ? 0 : (this.#processor ?? 0) - this.#processorAt
    const byClock = limit * (this.#isMeasured() ? mostOfClock : mostOfClockUnmeasured)
    if (spent <= limit && since <= byClock) return undefined
    return { reason: `no result within ${Math.round(limit)} ms of processor time`, culprit: number }
  }

  stop(): Promise<number> {
    this.#isStopped = true
    this.#dnsPort?.close()
    return this.#worker.terminate()
  }

  #isChecking(since: number): boolean {
    const { checkMilliseconds } = this.#limits
    return (
      since > checkMilliseconds &&
      [...this.jobs.values()].some(
        ({ since, state }) => state === "checking" && this.#now() - since > checkMilliseconds
      )
    )
  }

  /** Available since Node 24.6. */
  #isMeasured(): boolean {
    return typeof this.#worker.cpuUsage === "function"
  }

  /** Requests the CPU time of the thread, which the next check has. */
  #measure(number: number) {
    if (!this.#isMeasured()) return
    this.#worker.cpuUsage().then(
      ({ system, user }) => {
        if (this.#seen !== number) return
        this.#processor = (user + system) / 1_000
        this.#processorAt ??= this.#processor
      },
      // The thread has ended.
      () => undefined
    )
  }

  #hear({ answers, aside, carried, failed, held, payloads, read, used }: Results) {
    for (const { milliseconds, number } of used) {
      const job = this.jobs.get(number)
      if (job === undefined) continue
      job.used += milliseconds
      const cold = Math.min(this.#coldMilliseconds, milliseconds)
      this.#coldMilliseconds -= cold
      job.usedInAll += milliseconds - cold
    }
    for (const number of aside) this.#leave(number, "checking")
    for (const number of held) this.#leave(number, "held")
    let at = 0
    for (const { lengths, number, ...result } of read) {
      const own = lengths.map((length) => {
        at += length
        return new Uint8Array(payloads, at - length, length)
      })
      this.#ended(number)?.answer({ ...result, payloads: own })
    }
    for (const { answer, number } of answers) this.#ended(number)?.answer(answer)
    for (const { number, ...packed } of carried) this.#ended(number)?.answer(CarriedBytes.unpack(packed))
    for (const { number, reason } of failed) this.#ended(number)?.fail(reason, true)
  }

  #ended(number: number): ParserJob | undefined {
    const job = this.#leave(number, "done")
    if (job?.isSlow === true) this.slow--
    this.jobs.delete(number)
    return job
  }

  #leave(number: number, state: "checking" | "held" | "done"): ParserJob | undefined {
    const job = this.jobs.get(number)
    if (job === undefined) return undefined
    if (job.state === "parsing") {
      this.#toParse--
      this.#bytesToParse -= job.bytes
      this.#slowToParse.delete(job)
      // Adding and subtracting fractions leaves a remainder.
      this.#millisecondsToParse = this.#toParse === 0 ? 0 : this.#millisecondsToParse - job.estimate
    }
    job.state = state
    this.#parsed(job)
    return job
  }
}

const blameless = (reason: string): Trouble => ({ reason, culprit: undefined })
