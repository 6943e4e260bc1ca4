import { Worker } from "node:worker_threads"
import type { ParserJob } from "./ParserJob.ts"
import { type Handed, mostBytesToParse, mostToParse, type Results, type ThreadSettings } from "./ReadTask.ts"
import type { ThreadLimits } from "./ThreadLimits.ts"

/** Messages that a thread has in all, those that wait for DNS among them. */
const mostOfThread = 64

/** A thread that is not there after this long never will be. */
const startMilliseconds = 30_000

/**
 * One parser thread as the process sees it: what it has, and whether it is late. It is
 * given messages whose bytes are its own from then on, and answers for many at once.
 */
export class ParserWorker {
  readonly jobs = new Map<number, ParserJob>()
  isReady = false
  /** Has been given a message. */
  isUsed = false
  readonly isAlone: boolean
  readonly #worker: Worker
  readonly #limits: ThreadLimits
  readonly #now: () => number
  readonly #started: number
  /** Shared with the thread: the number of the message that it is parsing, 0 between two. */
  readonly #current = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  /** Of those that are to be parsed. */
  #toParse = 0
  #bytesToParse = 0
  /** The message that was being parsed at the last look, and since when. */
  #seen = 0
  #seenAt: number

  constructor(options: {
    readonly settings: Omit<ThreadSettings, "current">
    readonly limits: ThreadLimits
    /** For suspicious work: one message at a time, and longer. */
    readonly isAlone: boolean
    readonly now: () => number
    /** It is ready, or has answered: there may be room. */
    readonly heard: (worker: ParserWorker) => void
    readonly ended: (worker: ParserWorker, reason: string) => void
  }) {
    const { ended, heard, isAlone, limits, now, settings } = options
    this.isAlone = isAlone
    this.#limits = limits
    this.#now = now
    this.#started = now()
    this.#seenAt = this.#started
    const workerData: ThreadSettings = { ...settings, current: this.#current }
    this.#worker = new Worker(new URL("./ParserThread.ts", import.meta.url), {
      workerData,
      execArgv: [],
      // No secret of the environment comes near a sender's bytes.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMegabytes, maxYoungGenerationSizeMb: 32 }
    })
    this.#worker.on("message", (told: "ready" | Results) => {
      if (told === "ready") this.isReady = true
      else this.#hear(told)
      heard(this)
    })
    this.#worker.on("error", (error) => ended(this, error.message))
    this.#worker.on("exit", () => ended(this, "the thread ended"))
  }

  hasRoom(job: ParserJob): boolean {
    if (!this.isReady) return false
    if (this.jobs.size === 0) return true
    if (this.isAlone || this.jobs.size >= mostOfThread || this.#toParse >= mostToParse) return false
    return this.#toParse === 0 || this.#bytesToParse + job.bytes <= mostBytesToParse
  }

  /** Counts a job as its own; `hand` takes its bytes over. */
  take(job: ParserJob) {
    this.isUsed = true
    this.jobs.set(job.number, job)
    this.#toParse++
    this.#bytesToParse += job.bytes
    job.since = this.#now()
  }

  hand(batch: ReadonlyArray<Handed>) {
    this.#worker.postMessage(
      batch,
      batch.map(({ message }) => message.buffer)
    )
  }

  /** The number of the message that it is parsing. */
  current(): number {
    return Atomics.load(this.#current, 0)
  }

  /** Whether it is at one message for so long that the others should go elsewhere. */
  isHeld(): boolean {
    const number = this.current()
    return number !== 0 && number === this.#seen && this.#now() - this.#seenAt > this.#limits.waitMilliseconds
  }

  /** Why it is to be stopped: it has parsed one message for too long, or says no more about those that wait for DNS. */
  trouble(): string | undefined {
    if (!this.isReady) return this.#now() - this.#started > startMilliseconds ? "the thread did not start" : undefined
    const number = this.current()
    if (number !== this.#seen) {
      this.#seen = number
      this.#seenAt = this.#now()
    }
    const { aloneMilliseconds, checkMilliseconds, parseMilliseconds } = this.#limits
    const since = this.#now() - this.#seenAt
    const isLate =
      number === 0
        ? since > checkMilliseconds &&
          [...this.jobs.values()].some((job) => this.#now() - job.since > checkMilliseconds)
        : since > (this.isAlone ? aloneMilliseconds : parseMilliseconds)
    return isLate ? "no result in time" : undefined
  }

  stop(): Promise<number> {
    return this.#worker.terminate()
  }

  #hear({ aside, attachments, contents, failed, payloads, read }: Results) {
    for (const number of aside) this.#parsed(this.jobs.get(number))
    let at = 0
    for (const { lengths, number, ...result } of read) {
      const own = lengths.map((length) => {
        at += length
        return new Uint8Array(payloads, at - length, length)
      })
      this.#ended(number)?.answer({ ...result, payloads: own })
    }
    for (const { attachment, number } of attachments) this.#ended(number)?.answer(attachment)
    for (const { content, number } of contents) this.#ended(number)?.answer(content)
    for (const { number, reason } of failed) this.#ended(number)?.fail(reason, true)
  }

  #ended(number: number): ParserJob | undefined {
    const job = this.jobs.get(number)
    this.jobs.delete(number)
    this.#parsed(job)
    return job
  }

  #parsed(job: ParserJob | undefined) {
    if (job === undefined || job.isAside) return
    job.isAside = true
    this.#toParse--
    this.#bytesToParse -= job.bytes
  }
}
