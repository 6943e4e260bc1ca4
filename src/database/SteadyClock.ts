/** A clock that was set by more is followed at once. */
const mostMillis = 3 * 60 * 60 * 1_000

/** Rate of correction until both clocks agree. */
const rate = 0.1

/**
 * The time of day, without the leaps of a clock that is set by up to three hours: it then goes a tenth faster or
 * slower until both agree. So whatever is due in a minute stays due in about a minute. `wall` is the time of day and
 * `elapsed` the time since some moment, both in milliseconds.
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
