import { Context } from "effect"

const bytesPerMiB = 1024 * 1024

/** The limits of parser threads. Times are milliseconds. */
export interface ThreadLimits {
  /** CPU time for parsing one message: a fixed part, and a part for each MiB. */
  readonly parseMilliseconds: number
  readonly parseMillisecondsPerMiB: number
  /** Maximum time that a message waits for DNS answers about its sender, whose own timeouts are 8 s together. */
  readonly checkMilliseconds: number
  /** Heap of one thread for messages of up to 1 MiB. Raw messages and attachments are outside of it. */
  readonly heapMegabytes: number
  /**
   * A message expected to take this much CPU time is slow. Not less than `mostMillisecondsToParse`, so that a thread
   * with a slow message to parse has no room for others.
   */
  readonly slowMilliseconds: number
  /**
   * How long a message has waited before another thread is started: if a core is free or all threads have parsed one
   * message for as long, and otherwise. A thread that was unnecessary three times is terminated.
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
    checkMilliseconds: 10_000,
    heapMegabytes: 192,
    slowMilliseconds: 20,
    waitMilliseconds: 1_000,
    crowdedMilliseconds: 4_000,
    surplusMilliseconds: 300_000
  })
})

/**
 * Heap per MiB of the largest message above 1 MiB. V8 ends the process, not the thread, if a single allocation exceeds
 * the limit by 16 MiB, so the limit leaves room for a list with an entry for each character.
 */
const heapMegabytesPerMiB = 24

/** The limits with a heap for messages of up to this many bytes. */
export const upTo = (messageBytes: number, limits: ThreadLimits): ThreadLimits => ({
  ...limits,
  heapMegabytes: limits.heapMegabytes + heapMegabytesPerMiB * Math.max(0, Math.ceil(messageBytes / bytesPerMiB) - 1)
})

/** The CPU time limit of a message of this size in milliseconds. */
export const parseTime = (limits: ThreadLimits, bytes: number): number =>
  limits.parseMilliseconds + (limits.parseMillisecondsPerMiB * bytes) / bytesPerMiB
