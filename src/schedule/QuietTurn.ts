/** Longest that it is waited for a quiet turn. */
const mostMillis = 20

/**
 * Calls back at the end of the first turn of the event loop in which nothing has joined those that
 * `count` tells, so that they go together: while there is more to be heard, hearing it is worth more
 * than beginning. What comes alone waits for one turn, and nothing waits longer than 20 milliseconds
 * or beyond `enough`. Calls back once; never before it returns.
 */
export const whenQuiet = (count: () => number, enough: number, begin: () => void): void => {
  const until = performance.now() + mostMillis
  let before = 0
  const look = () => {
    const now = count()
    if (now === before || now >= enough || performance.now() >= until) return begin()
    before = now
    setImmediate(look)
  }
  setImmediate(look)
}
