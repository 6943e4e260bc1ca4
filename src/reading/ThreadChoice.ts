import type { ParserWorker } from "./ParserWorker.ts"

/** The thread with the fewest slow messages, then with the least work. */
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

/** The same, except the thread with the fewest of all, where fast messages wait least. */
export const forSlow = (threads: ReadonlyArray<ParserWorker>): ParserWorker | undefined =>
  forQuick(threads.length < 2 ? threads : threads.toSorted((one, other) => one.slow - other.slow).slice(1))
