import { FairQueue } from "../schedule/FairQueue.ts"
import * as ParserJob from "./ParserJob.ts"
import { mostOfThread, ParserWorker, type WorkerSettings } from "./ParserWorker.ts"
import { type Handed, movable } from "./ReadTask.ts"
import { halfLifeMilliseconds, TenantShares } from "./TenantShares.ts"
import * as ThreadChoice from "./ThreadChoice.ts"
import { ThreadDemand } from "./ThreadDemand.ts"
import * as ThreadLimits from "./ThreadLimits.ts"

/** The estimate for a sender check, which mostly waits for DNS. */
const checkMilliseconds = 1

export interface PoolOptions {
  readonly settings: WorkerSettings
  readonly limits: ThreadLimits.ThreadLimits
  readonly now: () => number
  readonly cores: number
  /** The niceness of a thread for slow messages, which leaves SMTP and fast messages most of a busy machine. */
  readonly nicenessForSlow: number
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
 * recent usage. Slow messages go to a second thread, and a tenant has one there at a time while others wait. Only the
 * sender check of a slow message starts at once. The thread then holds the message until it is released, because a burst
 * of DNS answers would otherwise fill the thread with slow messages. A thread is terminated when a message takes too much
 * CPU time or memory, and that message fails. A mere suspect is parsed again on a thread of its own, the others elsewhere.
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

  /** Drops a job, unless a thread has it. It is not parsed again then if that thread is lost. */
  cancel(job: ParserJob.ParserJob): void {
    job.isCancelled = true
    if (job.isAlone) this.#suspects = this.#suspects.filter((suspect) => suspect !== job)
    else if (job.state === "waiting") this.#waiting.remove(job.tenant, job)
  }

  /** Starts a thread, so that the first message does not wait for it. */
  warmUp(): void {
    if (this.#threads.size === 0) this.#start("any")
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

  /** Threads for any message, then those for slow ones. */
  #shared(): ReadonlyArray<ParserWorker> {
    return (["any", "slow"] as const).flatMap((kind) => [...this.#threads].filter(({ takes }) => takes === kind))
  }

  /** Starts none for slow messages beside which there is none for others. */
  #start(wanted: ParserWorker["takes"]) {
    const takes = wanted === "slow" && this.#shared()[0]?.takes !== "any" ? "any" : wanted
    const { changed, limits, nicenessForSlow, now, settings } = this.#options
    const thread: ParserWorker = new ParserWorker({
      settings: takes === "slow" ? { ...settings, niceness: nicenessForSlow } : settings,
      limits,
      takes,
      now,
      heard: () => {
        // The thread for suspects is not reused.
        if (takes === "suspect" && thread.isUsed && thread.jobs.size === 0) this.#stop(thread)
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
    if (!this.#threads.delete(thread)) return false
    void thread.stop()
    this.#options.changed(this.#threads.size)
    return true
  }

  /** Gives a job to a thread, or releases it there. */
  #give(thread: ParserWorker, job: ParserJob.ParserJob) {
    if (this.#options.fewestThreads === 0 || (thread.takes === "slow" && !job.isGuess)) this.#demand.note()
    this.#shares.enter(job, !thread.jobs.has(job.number))
    thread.take(job)
  }

  /** A job is done, waits for an answer, or is held from now on. */
  #parsed(thread: ParserWorker, job: ParserJob.ParserJob) {
    this.#shares.settle(job)
    if (job.state === "held") {
      this.#holders.set(job, thread)
      // Before its tenant's new messages if these soon have no place in the thread.
      this.#waiting.push(job.tenant, job, thread.isCrowded)
    } else if (job.state === "done") this.#shares.finish(job)
  }

  /** Parses a message again whose bytes were lost with a thread. */
  #again(job: ParserJob.ParserJob) {
    job.reload((message) => {
      if (job.isCancelled) return
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
    else if (thread.takes !== "suspect" && this.#demand.isAddable(this.#shared())) this.#start(thread.takes)
    const suspect = culprit ?? thread.current()
    for (const job of thread.jobs.values()) {
      if (this.#holders.delete(job)) this.#waiting.remove(job.tenant, job)
      if (job.number === suspect) job.used += ThreadLimits.parseTime(limits, job.bytes)
      this.#shares.settle(job)
      this.#shares.leave(job)
      if (job.isAlone || job.number === culprit) job.fail(reason, true)
      else if (!job.isCancelled) {
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
      batchOf(thread).handed.push({ number, task, message: movable(message), isHeld: ParserJob.isHeld(job) })
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
    const lone = [...this.#threads].find(({ takes }) => takes === "suspect")
    this.#suspects = this.#suspects.filter((job) => {
      if (lone?.hasRoom() !== true) return true
      job.isSlow = false
      give(lone, job)
      return false
    })
    if (this.#suspects.length > 0 && lone === undefined && this.#demand.isStartable) this.#start("suspect")
    if (this.#demand.isHeldUp(this.#shared())) this.#start("slow")
    for (const [thread, batch] of batches) thread.hand(batch)
  }

  /** A thread with room for the next job of a tenant. `skip` skips the tenant, `stop` all tenants. */
  #placeOf(job: ParserJob.ParserJob, shared: ReadonlyArray<ParserWorker>): ParserWorker | "skip" | "stop" {
    const { limits, mostPerTenant } = this.#options
    const { jobs, slow } = this.#shares.of(job.tenant)
    const holder = this.#holders.get(job)
    job.isGuess = !this.#shares.isKnown(job.tenant)
    if (holder === undefined) {
      job.isSlow = ParserJob.mayBeSlow(job, this.#shares.estimate(job) >= limits.slowMilliseconds)
      // Half of the free slots, so that messages waiting for one tenant's DNS leave slots for others.
      const most = Math.min(mostPerTenant, Math.max(1, shared.length * mostOfThread - this.#shares.jobs))
      if (jobs >= most) return "skip"
    }
    const estimate = this.#shares.expected(job)
    job.estimate = ParserJob.isHeld(job) && holder === undefined ? checkMilliseconds : estimate
    if (this.#shares.isParsedSlowly(job)) {
      if (slow > 0 && this.#waiting.tenants > 1) return "skip"
      const busy = shared.filter((thread) => thread.isSlow()).length
      if (busy >= Math.max(1, ThreadChoice.ofSlow(shared).length)) return "skip"
    }
    if (holder !== undefined) return holder.canParse() ? holder : "skip"
    if (job.isSlow && estimate >= limits.slowMilliseconds && shared.length > 0) return this.#placeOfSlow(job, shared)
    const place = ThreadChoice.leastBusy(shared)
    if (place !== undefined) return place
    if (this.#demand.isShort(job, this.#shared())) this.#start("any")
    return "stop"
  }

  /** Other tenants may have room when a slow message has none, so it never stops the search. */
  #placeOfSlow(job: ParserJob.ParserJob, shared: ReadonlyArray<ParserWorker>, first = shared[0]) {
    if (first === undefined || shared.length > 1) return ThreadChoice.leastBusy(ThreadChoice.ofSlow(shared)) ?? "skip"
    // The only thread takes large messages of one new tenant at a time, because those of several would delay others.
    const isBeside = ThreadChoice.hasSlowBeside(first, job.tenant)
    if (job.isGuess ? !isBeside : first.slow === 0 && !this.#demand.isStartable) return first.hasRoom() ? first : "skip"
    if (this.#demand.isSlowShort(job, this.#shared())) this.#start("slow")
    return "skip"
  }
}
