import { Tally } from "../cache/Tally.ts"
import { FairQueue } from "../schedule/FairQueue.ts"

/** The half-life of a tenant's recorded scans. */
const halfLifeMilliseconds = 2_000

/** A scan that waits for its turn or runs. */
export interface ScanJob {
  readonly tenant: string
  /** Starts it. It calls `ScanQueue.ended` once. */
  start(): void
}

/**
 * Runs a bounded number of scans, shared fairly between tenants. The next one belongs to the tenant with the fewest
 * recent scans. A tenant runs at most as many as are still free, so one alone gets half.
 */
export class ScanQueue {
  readonly #most: number
  readonly #waiting: FairQueue<ScanJob>
  readonly #running = new Tally()
  #isStarting = false

  constructor(options: { readonly most: number; readonly now: () => number }) {
    this.#most = options.most
    this.#waiting = new FairQueue({ now: options.now, halfLifeMilliseconds })
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get running(): number {
    return this.#running.total
  }

  add(job: ScanJob): void {
    this.#waiting.push(job.tenant, job)
    this.#next()
  }

  /** Removes a job that has not started. Returns whether it was still waiting. */
  remove(job: ScanJob): boolean {
    return this.#waiting.remove(job.tenant, job)
  }

  ended({ tenant }: ScanJob): void {
    this.#running.add(tenant, -1)
    this.#next()
  }

  /** A job may end while it starts. The loop then goes on, because a long queue would overflow the stack. */
  #next(): void {
    if (this.#isStarting) return
    this.#isStarting = true
    this.#startAll()
    this.#isStarting = false
  }

  #startAll(): void {
    while (this.#running.total < this.#most) {
      const job = this.#waiting.take((_, tenant) => {
        const own = this.#running.of(tenant)
        return own === 0 || own < this.#most - this.#running.total ? "take" : "skip"
      })
      if (job === undefined) return
      this.#waiting.charge(job.tenant, 1)
      this.#running.add(job.tenant, 1)
      job.start()
    }
  }
}
