import { FairQueue } from "../schedule/FairQueue.ts"
import * as ParserJob from "./ParserJob.ts"
import { mostOfThread, ParserWorker } from "./ParserWorker.ts"
import { type Handed, movable, type ThreadSettings } from "./ReadTask.ts"
import { TenantShares } from "./TenantShares.ts"
import * as ThreadChoice from "./ThreadChoice.ts"
import { ThreadDemand } from "./ThreadDemand.ts"
import * as ThreadLimits from "./ThreadLimits.ts"

/** The half-life of a tenant's recorded usage. */
const halfLifeMilliseconds = 2_000

/** The estimate for a sender check, which mostly waits for DNS. */
const checkMilliseconds = 1

export interface PoolOptions {
  readonly settings: Omit<ThreadSettings, "current">
  readonly limits: ThreadLimits.ThreadLimits
  readonly now: () => number
  readonly cores: number
  /** Minimum idle threads and maximum threads, without the one for suspects. */
  readonly fewestThreads: number
  readonly mostThreads: number
  /** Maximum concurrent jobs of one tenant in threads. */
  readonly mostPerTenant: number
  readonly log: (line: string, reason: string) => void
  /** Called when the number of threads changes. Looks are needed from then on. */
  readonly changed: (threads: number) => void
  /** Called when a thread with work was terminated or ended. */
  readonly lost: () => void
  /** Called when a job waits. Looks are needed from then on. */
  readonly busy: () => void
}

/**
 * Parser threads, shared fairly between tenants by CPU time. The next message belongs to the tenant with the least
 * recent usage. Slow messages leave one thread free for others, and a tenant with slow messages has one in a thread
 * at a time while others wait. Only the sender check of a slow message starts at once. The thread then holds the
 * message until it is released, because a burst of DNS answers would otherwise fill the thread with slow messages. A
 * thread is terminated when a message takes too much CPU time or memory, and that message fails. If the culprit is
 * uncertain, the suspect is parsed again on a thread of its own. All other messages of the thread are parsed again.
 */
export class ParserPool {
  readonly #options: PoolOptions
  readonly #threads = new Set<ParserWorker>()
  readonly #waiting: FairQueue<ParserJob.ParserJob>
  /** The thread of each held message that waits for its release. */
  readonly #holders = new Map<ParserJob.ParserJob, ParserWorker>()
  #suspects: Array<ParserJob.ParserJob> = []
  readonly #shares: TenantShares
  readonly #demand: ThreadDemand
  #lastNumber = 0
  #isDispatching = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#waiting = new FairQueue({ now: options.now, halfLifeMilliseconds })
    this.#demand = new ThreadDemand(options)
    this.#shares = new TenantShares(this.#waiting, options.limits.slowMilliseconds)
  }

  /** The number of waiting jobs. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** The number of waiting jobs of a tenant. */
  waitingOf(tenant: string): number {
    return this.#waiting.sizeOf(tenant)
  }

  submit(task: ParserJob.Submitted): ParserJob.ParserJob {
    const job = ParserJob.make(++this.#lastNumber, task)
    this.#wait(job)
    return job
  }

  /** Drops a job that no thread has yet. */
  cancel(job: ParserJob.ParserJob): void {
    if (job.state === "waiting") this.#waiting.remove(job.tenant, job)
  }

  /** Starts a thread, so that the first message does not wait for it. */
  warmUp(): void {
    if (this.#threads.size === 0) this.#start(false)
  }

  /**
   * Terminates threads that are late or not needed. Called several times a second until it returns false: nothing is
   * under way, and no thread is starting or may be stopped.
   */
  look(): boolean {
    for (const thread of this.#threads) {
      const trouble = thread.trouble()
      if (trouble !== undefined) this.#lose(thread, trouble.reason, trouble.culprit)
    }
    const others = this.#shared().slice(this.#options.fewestThreads)
    const surplus = others.find(({ isReady, jobs }) => isReady && jobs.size === 0)
    if (surplus !== undefined && this.#demand.isPast) this.#stop(surplus)
    this.#dispatchSoon()
    return (
      others.length > 0 ||
      this.waiting > 0 ||
      this.#suspects.length > 0 ||
      [...this.#threads].some(({ isReady, jobs }) => !isReady || jobs.size > 0)
    )
  }

  close(): Promise<unknown> {
    const all = [...this.#threads]
    this.#threads.clear()
    this.#suspects = []
    while (this.#waiting.take(() => "take") !== undefined) {}
    return Promise.all(all.map((thread) => thread.stop()))
  }

  #shared(): ReadonlyArray<ParserWorker> {
    return [...this.#threads].filter(({ isAlone }) => !isAlone)
  }

  #start(isAlone: boolean) {
    const { changed, limits, now, settings } = this.#options
    const thread: ParserWorker = new ParserWorker({
      settings,
      limits,
      isAlone,
      now,
      heard: () => {
        // The thread for suspects is not reused.
        if (isAlone && thread.isUsed && thread.jobs.size === 0) this.#stop(thread)
        this.#dispatchSoon()
      },
      parsed: (job) => this.#parsed(thread, job),
      ended: (reason) => this.#lose(thread, reason, undefined)
    })
    this.#threads.add(thread)
    changed(this.#threads.size)
  }

  /** Returns whether it still belonged to the pool. */
  #stop(thread: ParserWorker): boolean {
    const wasOurs = this.#threads.delete(thread)
    if (wasOurs) {
      void thread.stop()
      this.#options.changed(this.#threads.size)
    }
    return wasOurs
  }

  /** Gives a job to a thread, or releases it there. */
  #give(thread: ParserWorker, job: ParserJob.ParserJob) {
    if (this.#options.fewestThreads === 0) this.#demand.note()
    this.#shares.enter(job, !thread.jobs.has(job.number))
    thread.take(job)
  }

  /** A job is done, waits for an answer, or is held from now on. */
  #parsed(thread: ParserWorker, job: ParserJob.ParserJob) {
    this.#shares.settle(job)
    if (job.state === "held") {
      this.#holders.set(job, thread)
      this.#waiting.push(job.tenant, job)
    } else if (job.state === "done") this.#shares.finish(job)
  }

  /** Parses a message again whose bytes were lost with a thread. */
  #again(job: ParserJob.ParserJob) {
    job.reload((message) => {
      if (message === undefined) return job.fail("its bytes could not be loaded again", false)
      job.message = message
      this.#wait(job)
    })
  }

  /**
   * Terminates a thread. Without a known culprit, the current message is a suspect, and so is any message that is
   * lost a second time.
   */
  #lose(thread: ParserWorker, reason: string, culprit: number | undefined) {
    const { limits, log, lost } = this.#options
    if (!this.#stop(thread)) return
    lost()
    log("A parser thread was stopped; its other messages are read again", reason)
    if (!thread.isReady) this.#demand.startFailed()
    // At once, because until it is ready, slow messages wait and leave the remaining thread to others.
    else if (!thread.isAlone && this.#demand.isReplaceable(this.#shared())) this.#start(false)
    const suspect = culprit ?? thread.current()
    for (const job of thread.jobs.values()) {
      if (this.#holders.delete(job)) this.#waiting.remove(job.tenant, job)
      if (job.number === suspect) job.used += ThreadLimits.parseTime(limits, job.bytes)
      this.#shares.settle(job)
      this.#shares.leave(job)
      if (job.isAlone || job.number === culprit) job.fail(reason, true)
      else {
        job.isAlone = culprit === undefined && (job.number === suspect || job.wasLost)
        job.wasLost ||= culprit === undefined
        this.#again(job)
      }
    }
    this.#dispatchSoon()
  }

  #wait(job: ParserJob.ParserJob) {
    job.state = "waiting"
    job.since = this.#options.now()
    if (job.isAlone) this.#suspects.push(job)
    else this.#waiting.push(job.tenant, job)
    this.#options.busy()
    this.#dispatchSoon()
  }

  /** At the end of an event-loop turn, so that messages of the same packets form one batch. */
  #dispatchSoon() {
    if (this.#isDispatching) return
    this.#isDispatching = true
    setImmediate(() => {
      this.#isDispatching = false
      this.#dispatch()
    })
  }

  #dispatch() {
    const batches = new Map<ParserWorker, { readonly handed: Array<Handed>; readonly letOn: Array<number> }>()
    const batchOf = (thread: ParserWorker) => {
      const batch = batches.get(thread) ?? { handed: [], letOn: [] }
      batches.set(thread, batch)
      return batch
    }
    const give = (thread: ParserWorker, job: ParserJob.ParserJob) => {
      this.#give(thread, job)
      const { message, number, task } = job
      if (this.#holders.delete(job)) return void batchOf(thread).letOn.push(number)
      if (message === undefined) return
      job.message = undefined
      batchOf(thread).handed.push({ number, task, message: movable(message), isHeld: isHeld(job) })
    }

    const shared = this.#shared()
    for (;;) {
      let thread: ParserWorker | undefined
      const job = this.#waiting.take((first) => {
        const place = this.#placeOf(first, shared)
        if (typeof place === "string") return place
        thread = place
        return "take"
      })
      if (job === undefined || thread === undefined) break
      give(thread, job)
    }
    this.#suspects = this.#suspects.filter((job) => {
      const thread = [...this.#threads].find((thread) => thread.isAlone && thread.hasRoom())
      if (thread === undefined) return true
      job.isSlow = false
      give(thread, job)
      return false
    })
    const isWanted = this.#suspects.length > 0 && ![...this.#threads].some(({ isAlone }) => isAlone)
    if (isWanted && this.#demand.isStartable) this.#start(true)
    if (this.#demand.isHeldUp(this.#shared())) this.#start(false)
    for (const [thread, batch] of batches) thread.hand(batch)
  }

  /** A thread with room for the next job of a tenant. `skip` skips the tenant, `stop` all tenants. */
  #placeOf(job: ParserJob.ParserJob, shared: ReadonlyArray<ParserWorker>): ParserWorker | "skip" | "stop" {
    const { limits, mostPerTenant, mostThreads } = this.#options
    const { jobs, slow } = this.#shares.of(job.tenant)
    const holder = this.#holders.get(job)
    const estimate = this.#shares.estimate(job)
    if (holder === undefined) {
      job.isSlow = isOfDelivery(job) && estimate >= limits.slowMilliseconds
      // Half of the free slots, so that messages waiting for one tenant's DNS leave slots for others.
      const most = Math.min(mostPerTenant, Math.max(1, shared.length * mostOfThread - this.#shares.jobs))
      if (jobs >= most) return "skip"
    }
    job.estimate = isHeld(job) && holder === undefined ? checkMilliseconds : estimate
    if (this.#shares.isParsedSlowly(job)) {
      const busy = shared.filter((thread) => thread.isSlow()).length
      // Leaves one thread for others. Only a tenant's first slow message may take the last thread.
      const most = Math.max(shared.length - 1, this.#shares.isKnown(job.tenant) ? 0 : 1)
      if (mostThreads > 1 && busy >= most) {
        if (shared.length === 1 && this.#demand.isReplaceable(shared)) this.#start(false)
        return "skip"
      }
      if (slow > 0 && this.#waiting.tenants > 1) return "skip"
    }
    if (holder !== undefined) return holder.hasRoom() ? holder : "skip"
    const place = job.isSlow ? ThreadChoice.forSlow(shared) : ThreadChoice.forQuick(shared)
    if (place !== undefined) return place
    // Other tenants may have room when a slow message has none.
    if (job.isSlow && shared.length > 1) return "skip"
    if (this.#demand.isShort(job, shared)) this.#start(false)
    return "stop"
  }
}

/** True if a delivery waits for it, and not a client of the API. */
const isOfDelivery = ({ task: { kind } }: ParserJob.ParserJob) => kind === "read" || kind === "carry"

/** True if the thread holds the message after the sender check. */
const isHeld = ({ isAlone, isSlow, task }: ParserJob.ParserJob) => isSlow && !isAlone && task.kind === "read"
