/** Waits between looks at a delivery that is on its way, in seconds. */
const waits = [2, 4, 8, 16, 30, 60]

/**
 * Looks again while something is due, less and less often, and not in a hidden tab, because the stream has no event for a
 * change of a delivery. Returns a function that ends it.
 */
export const whileDue = (isDue: () => boolean, look: () => Promise<unknown>): (() => void) => {
  let count = 0
  let isEnded = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const next = () => {
    if (isEnded) return
    timer = setTimeout(
      () => {
        count = isDue() ? count + 1 : 0
        // After a failed look, too.
        if (count > 0 && !document.hidden) void look().then(next, next)
        else next()
      },
      (waits[Math.min(count, waits.length - 1)] ?? 60) * 1_000
    )
  }
  next()
  return () => {
    isEnded = true
    clearTimeout(timer)
  }
}
