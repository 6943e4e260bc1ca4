import type { ParserWorker } from "./ParserWorker.ts"

/**
 * Chooses among threads with a free slot: one for any message, then the one with the fewest slow messages, then the one
 * with the least work.
 */
export const leastBusy = (threads: ReadonlyArray<ParserWorker>): ParserWorker | undefined => {
  let best: ParserWorker | undefined
  for (const thread of threads) {
    if (!thread.hasRoom()) continue
    if (best === undefined || compare(thread, best) < 0) best = thread
  }
  return best
}

const compare = (one: ParserWorker, other: ParserWorker) =>
  Number(one.takes === "slow") - Number(other.takes === "slow") || one.slow - other.slow || one.load - other.load

/** The threads for slow messages. Where there is none, all but the one with the fewest, which stays free for fast ones. */
export const ofSlow = (threads: ReadonlyArray<ParserWorker>): ReadonlyArray<ParserWorker> => {
  const own = threads.filter(({ takes }) => takes === "slow")
  return own.length > 0 ? own : threads.toSorted((one, other) => one.slow - other.slow).slice(1)
}

/** True if a thread has slow messages of other tenants, including those waiting for DNS or held. */
export const hasSlowBeside = ({ jobs, slow }: ParserWorker, tenant: string): boolean =>
  slow > 0 && [...jobs.values()].some((job) => job.isSlow && job.tenant !== tenant)
