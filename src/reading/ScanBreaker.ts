/** Failures in a row after which mail is not scanned for a while. */
const failuresToOpen = 3

/** The first pause in milliseconds, and the longest. Each failed trial doubles it. */
const firstPause = 5_000
const longestPause = 60_000

/**
 * Decides whether mail waits for the scanner. After failures in a row all mail passes unscanned. After a pause the copy
 * of one message is a trial, for which its mail does not wait. A success ends it.
 */
export class ScanBreaker {
  readonly #now: () => number
  #failures = 0
  #pause = firstPause
  /** The end of the pause. Undefined while mail is scanned. */
  #until: number | undefined
  #isTrying = false

  constructor(now: () => number) {
    this.#now = now
  }

  /** True while mail passes unscanned. */
  get isOpen(): boolean {
    return this.#until !== undefined
  }

  /** Whether to scan a copy of the next message as a trial. There is one at a time, and it ends with its outcome. */
  takesTrial(): boolean {
    if (this.#until === undefined || this.#isTrying || this.#now() < this.#until) return false
    this.#isTrying = true
    return true
  }

  /** Returns whether mail is scanned again from now on. */
  succeeded(): boolean {
    const wasOpen = this.isOpen
    this.#failures = 0
    this.#pause = firstPause
    this.#until = undefined
    this.#isTrying = false
    return wasOpen
  }

  /** Returns whether mail is unscanned from now on, and was scanned before. */
  failed({ isTrial }: { readonly isTrial: boolean }): boolean {
    this.#failures++
    if (this.#until !== undefined) {
      // Scans that were running when it opened are no trial.
      if (isTrial) {
        this.#isTrying = false
        this.#pause = Math.min(2 * this.#pause, longestPause)
        this.#until = this.#now() + this.#pause
      }
      return false
    }
    if (this.#failures < failuresToOpen) return false
    this.#until = this.#now() + this.#pause
    return true
  }

  /** A scan ended without saying anything about the scanner. */
  ended({ isTrial }: { readonly isTrial: boolean }): void {
    if (isTrial) this.#isTrying = false
  }
}
