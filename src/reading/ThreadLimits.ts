import { Context } from "effect"

const bytesPerMiB = 1024 * 1024

/** The bounds of parser threads. Times are milliseconds. */
export interface ThreadLimits {
  /** Processor time to parse one message: a fixed part, and a part for each MiB of it. */
  readonly parseMilliseconds: number
  readonly parseMillisecondsPerMiB: number
  /** Longest that a message may wait for DNS answers about its sender, which have a timeout of 5 s themselves. */
  readonly checkMilliseconds: number
  /** Heap of one thread. The bytes of messages are outside of it. */
  readonly heapMegabytes: number
  /** A message expected to take this much processor time is slow: it never occupies the last free thread. */
  readonly slowMilliseconds: number
  /**
   * How long a message has waited before one more thread is started: where a core is left for it, or all threads
   * have been at one message for as long; and where neither is so. A thread unused for the third time is stopped.
   */
  readonly waitMilliseconds: number
  readonly crowdedMilliseconds: number
  readonly surplusMilliseconds: number
}

/** Tests shorten them. */
export const ThreadLimits = Context.Reference<ThreadLimits>("inlet/reading/ThreadLimits", {
  defaultValue: () => ({
    parseMilliseconds: 500,
    parseMillisecondsPerMiB: 500,
    checkMilliseconds: 7_000,
    heapMegabytes: 192,
    slowMilliseconds: 20,
    waitMilliseconds: 1_000,
    crowdedMilliseconds: 4_000,
    surplusMilliseconds: 300_000
  })
})

/** Processor time that a message of this size may take, in milliseconds. */
export const parseTime = (limits: ThreadLimits, bytes: number): number =>
  limits.parseMilliseconds + (limits.parseMillisecondsPerMiB * bytes) / bytesPerMiB
