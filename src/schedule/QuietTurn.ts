/** The longest wait for a quiet turn. */
const mostMillis = 20

/** A batch that waits to start. */
interface Waiting {
  readonly count: () => number
  /** Whether the batch is full. */
  readonly isFull: () => boolean
}

/**
 * Calls back at the end of the first event-loop turn in which nothing joined the batch, because reading further input
 * first makes larger batches. A single item waits for one turn. A batch waits at most 20 ms, and not if it is full.
 * Calls back once, never before it returns.
 */
export const whenQuiet = ({ count, isFull }: Waiting, begin: () => void): void => {
  const until = performance.now() + mostMillis
  let before = 0
  const look = () => {
    const now = count()
    if (now === before || isFull() || performance.now() >= until) return begin()
    before = now
    setImmediate(look)
  }
  setImmediate(look)
}
