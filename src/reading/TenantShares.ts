import type { FairQueue } from "../schedule/FairQueue.ts"
import type { ParserJob } from "./ParserJob.ts"
import { ReadingCost } from "./ReadingCost.ts"

/** The half-life of a tenant's recorded usage. */
export const halfLifeMilliseconds = 2_000

/** A tenant's jobs in parser threads. */
interface Share {
  jobs: number
  /** The number of slow messages being parsed or next in a thread. */
  slow: number
}

const none: Share = { jobs: 0, slow: 0 }

/**
 * Counts the jobs of each tenant in parser threads, and charges the tenant in the queue: an estimate at the start, and
 * the actual use at the end.
 */
export class TenantShares {
  readonly #waiting: FairQueue<ParserJob>
  readonly #slowMilliseconds: number
  readonly #cost = new ReadingCost()
  readonly #shares = new Map<string, Share>()
  /** The number of jobs in threads, of all tenants. */
  jobs = 0

  constructor(waiting: FairQueue<ParserJob>, slowMilliseconds: number) {
    this.#waiting = waiting
    this.#slowMilliseconds = slowMilliseconds
  }

  of(tenant: string): Readonly<Share> {
    return this.#shares.get(tenant) ?? none
  }

  /** True if messages of this tenant were parsed before. */
  isKnown(tenant: string): boolean {
    return this.#cost.isKnown(tenant)
  }

  /** The expected CPU time of a job in milliseconds. */
  estimate({ bytes, tenant }: ParserJob): number {
    return this.#cost.estimate(tenant, bytes)
  }

  /**
   * The same, but at least `slowMilliseconds` for a large message of a new tenant. Most are fast, but other tenants must
   * not wait for several slow ones.
   */
  expected(job: ParserJob): number {
    const isUnknown = job.isSlow && job.isGuess && job.task.kind === "read"
    return isUnknown ? Math.max(this.estimate(job), this.#slowMilliseconds) : this.estimate(job)
  }

  /** True if a slow message is being parsed, beyond its sender check. */
  isParsedSlowly({ estimate, isSlow }: ParserJob): boolean {
    return isSlow && estimate >= this.#slowMilliseconds
  }

  /** Gives a new or held job to a thread. */
  enter(job: ParserJob, isNew: boolean): void {
    const share = this.#shares.get(job.tenant) ?? { jobs: 0, slow: 0 }
    this.#shares.set(job.tenant, share)
    if (isNew) {
      share.jobs++
      this.jobs++
      job.usedInAll = 0
    }
    if (this.isParsedSlowly(job)) share.slow++
    job.charged = job.estimate
    this.#waiting.charge(job.tenant, job.charged)
  }

  /** Replaces the estimate of a job by its actual use. */
  settle(job: ParserJob): void {
    const share = this.#shares.get(job.tenant)
    if (share !== undefined && job.charged > 0 && this.isParsedSlowly(job)) share.slow--
    this.#waiting.charge(job.tenant, job.used - job.charged)
    job.charged = 0
    job.used = 0
  }

  /** Ends a job and records its cost, except for the time of a cold thread. */
  finish(job: ParserJob): void {
    // Making a message for a webhook costs less than reading it, and would spoil the estimate.
    if (job.task.kind !== "carry" && job.usedInAll > 0) this.#cost.record(job.tenant, job.bytes, job.usedInAll)
    this.leave(job)
  }

  leave({ tenant }: ParserJob): void {
    const share = this.#shares.get(tenant)
    if (share === undefined) return
    this.jobs--
    share.jobs--
    if (share.jobs === 0) this.#shares.delete(tenant)
  }
}
