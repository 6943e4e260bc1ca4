/** Longest that it is waited for a quiet turn. */
const mostMillis = 20

/** What waits to begin together. */
interface Waiting {
  readonly count: () => number
  /** No more of it can begin together. */
  readonly isFull: () => boolean
}

/**
 * Calls back at the end of the first turn of the event loop in which nothing has joined what waits:
 * while there is more to be heard, hearing it is worth more than beginning. What comes alone waits
 * for one turn, and nothing waits longer than 20 milliseconds, or when no more would go along. Calls
 * back once; never before it returns.
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
