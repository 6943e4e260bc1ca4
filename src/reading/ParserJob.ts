import type { Task, TaskResult } from "./ReadTask.ts"

/**
 * Loads the stored message again, because a lost thread takes its bytes along. Calls back with undefined on failure.
 */
export type Reload = (then: (message: Uint8Array | undefined) => void) => void

/** A task that waits for a parser thread or is in one. */
export interface ParserJob {
  readonly number: number
  /** The tenant whose CPU time it uses: a workspace, or all demo inboxes. */
  readonly tenant: string
  readonly task: Task
  /** Undefined once a thread has it. */
  message: Uint8Array | undefined
  readonly bytes: number
  readonly reload: Reload
  readonly answer: (result: TaskResult) => void
  /** `isUnparsable` distinguishes a message no thread could parse from one without bytes. */
  readonly fail: (reason: string, isUnparsable: boolean) => void
  /** When it started to wait, or when it was given to a thread. */
  since: number
  /**
   * `waiting` for a thread, `parsing` in one or next to be parsed there, `checking` while DNS is asked about the sender, or
   * `held` by the thread until the pool lets it parse the message.
   */
  state: "waiting" | "parsing" | "checking" | "held" | "done"
  /** True if it may be slow. The thread then holds it after the sender check. */
  isSlow: boolean
  /** True if its tenant is new, so that its cost is guessed from its size. */
  isGuess: boolean
  /** Estimated CPU time of the next step in milliseconds. */
  estimate: number
  /** The part of the estimate charged to the tenant and not yet replaced by the actual use. */
  charged: number
  /** CPU time in milliseconds that its thread reported and that is not charged yet. */
  used: number
  /** All of its CPU time in milliseconds, without the time of a cold thread. */
  usedInAll: number
  /** It was on a lost thread. */
  wasLost: boolean
  /** Suspected of the loss, so it is parsed again on a thread of its own. */
  isAlone: boolean
  /** Its request has ended. */
  isCancelled: boolean
}

/** A task for the pool. */
export type Submitted = Pick<ParserJob, "tenant" | "task" | "reload" | "answer" | "fail" | "bytes"> & {
  readonly message: Uint8Array
}

export const make = (number: number, submitted: Submitted): ParserJob => ({
  ...submitted,
  number,
  since: 0,
  state: "waiting",
  isSlow: false,
  isGuess: false,
  estimate: 0,
  charged: 0,
  used: 0,
  usedInAll: 0,
  wasLost: false,
  isAlone: false,
  isCancelled: false
})

/** True if a delivery waits for it, and not a client of the API. */
export const isOfDelivery = ({ task: { kind } }: ParserJob) => kind === "read" || kind === "carry"

/** Larger messages of a tenant count as slow until one of its messages was parsed and measured. */
const bytesOfGuess = 65_536

/** True if a message is expected to be slow, or is large and its tenant is new. */
export const mayBeSlow = (job: ParserJob, isExpected: boolean) =>
  isOfDelivery(job) && (isExpected || (job.isGuess && job.bytes > bytesOfGuess))

/** True if the thread holds the message after the sender check. */
export const isHeld = ({ isAlone, isSlow, task }: ParserJob) => isSlow && !isAlone && task.kind === "read"
