import { Context } from "effect"

/** What bounds a parser thread. */
export interface ThreadLimits {
  /** Longest that one message may be parsed, beside others and alone. */
  readonly parseMilliseconds: number
  readonly aloneMilliseconds: number
  /** Longest that a message may wait for the sender's DNS, which is bounded by 5 s itself. */
  readonly checkMilliseconds: number
  /** Heap of one thread; the bytes of messages are outside of it. */
  readonly heapMegabytes: number
  /**
   * How long a message has waited when one more thread is worth its memory: where a core is left for it, or all others
   * are at one message for as long; and where that is not so. How long none has when it is not any more.
   */
  readonly waitMilliseconds: number
  readonly crowdedMilliseconds: number
  readonly surplusMilliseconds: number
}

/** Tests shorten them. */
export const ThreadLimits = Context.Reference<ThreadLimits>("inlet/reading/ThreadLimits", {
  defaultValue: () => ({
    parseMilliseconds: 4_000,
    aloneMilliseconds: 6_000,
    checkMilliseconds: 7_000,
    heapMegabytes: 192,
    waitMilliseconds: 1_000,
    crowdedMilliseconds: 4_000,
    surplusMilliseconds: 300_000
  })
})
