/**
 * Attributes the CPU time of this thread to its tasks, in milliseconds. One system call serves a batch: its time is
 * divided in proportion to the elapsed time of each task.
 */
export class ProcessorTime {
  #before = process.threadCpuUsage()
  #elapsed = new Map<number, number>()
  /** The current task, 0 without one, and the start of its unrecorded time. */
  #number = 0
  #since = 0

  begin(number: number): void {
    this.#number = number
    this.#since = performance.now()
  }

  end(): void {
    this.#note()
    this.#number = 0
  }

  /** The CPU time of each task since the last call, the current one included. */
  take(): ReadonlyArray<{ readonly number: number; readonly milliseconds: number }> {
    this.#note()
    const usage = process.threadCpuUsage()
    const used = (usage.user + usage.system - this.#before.user - this.#before.system) / 1_000
    this.#before = usage
    const elapsed = this.#elapsed
    this.#elapsed = new Map()
    let all = 0
    for (const milliseconds of elapsed.values()) all += milliseconds
    return Array.from(elapsed, ([number, milliseconds]) => ({
      number,
      milliseconds: all === 0 ? 0 : (used * milliseconds) / all
    }))
  }

  #note() {
    if (this.#number === 0) return
    const now = performance.now()
    this.#elapsed.set(this.#number, (this.#elapsed.get(this.#number) ?? 0) + now - this.#since)
    this.#since = now
  }
}
