import type { ParserJob } from "./ParserJob.ts"
import type { ParserWorker } from "./ParserWorker.ts"
import type { ThreadLimits } from "./ThreadLimits.ts"

/** The delay before a thread that failed to start is started again. */
const restartMilliseconds = 1_000

interface Options {
  readonly limits: ThreadLimits
  readonly now: () => number
  readonly cores: number
  readonly mostThreads: number
}

/** Decides when another parser thread is worth its memory, and when one is no longer. */
export class ThreadDemand {
  readonly #options: Options
  #startAgainAt = 0
  /** When another thread would last have been useful. */
  #shortAt = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** Records that a thread is useful now. Large mail of new tenants is no reason, because most of it is fast. */
  note(): void {
    this.#shortAt = this.#options.now()
  }

  /** True if a thread may be started, one second after a failed start. */
  get isStartable(): boolean {
    return this.#options.now() >= this.#startAgainAt
  }

  startFailed(): void {
    this.#startAgainAt = this.#options.now() + restartMilliseconds
  }

  /** True if a job without a slot has waited long enough for another thread. */
  isShort(job: ParserJob, threads: ReadonlyArray<ParserWorker>): boolean {
    const { cores, limits, now } = this.#options
    // Two threads that share a core with SMTP and the API parse no more than one, and cost a heap and compilation.
    const isWorthMore = threads.length + 1 < cores || threads.every((thread) => thread.isHeld())
    const hasWaited = now() - job.since > (isWorthMore ? limits.waitMilliseconds : limits.crowdedMilliseconds)
    if (hasWaited) this.note()
    return (threads.length === 0 || hasWaited) && this.#mayStart(threads)
  }

  /**
   * True if a thread for slow messages may be started for a job. For a message of a new tenant it may only after a wait,
   * because large messages are rarely slow.
   */
  isSlowShort(job: ParserJob, threads: ReadonlyArray<ParserWorker>): boolean {
    const { limits, now } = this.#options
    return (!job.isGuess || now() - job.since > limits.waitMilliseconds) && this.isAddable(threads)
  }

  /** True if slow messages occupy all threads, or all threads are for slow ones. */
  isHeldUp(threads: ReadonlyArray<ParserWorker>): boolean {
    if (threads.length === 0 || this.#options.mostThreads < 2) return false
    if (threads.some(({ takes }) => takes === "any") && threads.some((thread) => !thread.isProvenSlow())) return false
    this.note()
    return this.#mayStart(threads)
  }

  /** True if a thread may be added at once: for a lost one, or for slow messages. */
  isAddable(threads: ReadonlyArray<ParserWorker>): boolean {
    this.note()
    return this.#mayStart(threads)
  }

  /** True if the minimum of threads sufficed for long. */
  get isPast(): boolean {
    return this.#options.now() - this.#shortAt > this.#options.limits.surplusMilliseconds
  }

  #mayStart(threads: ReadonlyArray<ParserWorker>): boolean {
    return threads.length < this.#options.mostThreads && threads.every(({ isReady }) => isReady) && this.isStartable
  }
}
