/** A larger change of the clock is followed at once. */
const mostMillis = 3 * 60 * 60 * 1_000

/** Rate of correction until both clocks agree. */
const rate = 0.1

/**
 * The system time without jumps of up to three hours. After a change it runs a tenth faster or slower until both
 * agree, so that a delivery due in 1 min stays due in about 1 min. `wall` is the system time and `elapsed` a
 * monotonic time, both in milliseconds.
 */
export const make = (wall: () => number, elapsed: () => number): (() => number) => {
  let shown = wall()
  let last = elapsed()
  return () => {
    const passed = elapsed() - last
    last += passed
    const behind = wall() - (shown + passed)
    if (Math.abs(behind) > mostMillis) shown += passed + behind
    else shown += passed + Math.sign(behind) * Math.min(Math.abs(behind), passed * rate)
    return Math.floor(shown)
  }
}
