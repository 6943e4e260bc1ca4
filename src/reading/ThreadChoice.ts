import type { ParserWorker } from "./ParserWorker.ts"

/** Chooses the thread with the fewest slow messages, then with the least work, among those with a free slot. */
export const forQuick = (threads: ReadonlyArray<ParserWorker>): ParserWorker | undefined => {
  let best: ParserWorker | undefined
  for (const thread of threads) {
    if (!thread.hasRoom()) continue
    if (best === undefined || thread.slow < best.slow || (thread.slow === best.slow && thread.load < best.load)) {
      best = thread
    }
  }
  return best
}

/** Chooses likewise, but never the thread with the fewest slow messages, which stays free for fast ones. */
export const forSlow = (threads: ReadonlyArray<ParserWorker>): ParserWorker | undefined =>
  forQuick(threads.length < 2 ? threads : threads.toSorted((one, other) => one.slow - other.slow).slice(1))
