import type { Content } from "../content/Content.ts"
import type { AttachmentResult, ReadResult, Task } from "./ReadTask.ts"

/** The stored message, anew: a thread that is lost takes its bytes along. Undefined where they can't be had. */
export type Reload = (then: (message: Uint8Array | undefined) => void) => void

/** A message that waits for a parser thread, or is with one. */
export interface ParserJob {
  readonly number: number
  readonly task: Task
  /** Undefined once a thread has it. */
  message: Uint8Array | undefined
  readonly bytes: number
  readonly reload: Reload
  readonly answer: (result: ReadResult | AttachmentResult | Content) => void
  /** No thread could do it, even alone; or its bytes can't be had. */
  readonly fail: (reason: string, isUnparsable: boolean) => void
  /** When it began to wait, then when a thread was given it. */
  since: number
  /** Parsed, and waits for DNS. */
  isAside: boolean
  /** Was on a thread that was lost. */
  wasLost: boolean
  /** Is suspected of it: it is tried again where it can harm no other. */
  isAlone: boolean
}
