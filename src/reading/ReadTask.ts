import type * as Content from "../content/html/Content.ts"
import type { DomainName } from "../model/Domain.ts"
import type { Envelope, InboundEmailId, RawRef } from "../model/InboundEmail.ts"
import type { Authentication, EventId } from "../model/InboundEvent.ts"

/**
 * Maximum messages per batch to a thread, with their total bytes and estimated milliseconds. A larger message goes
 * alone.
 */
export const mostToParse = 16
export const mostBytesToParse = 1024 * 1024
export const mostMillisecondsToParse = 20

/** How much of a message to parse: less after a reader crashed. */
export type Depth = "full" | "headers" | "nothing"

/** A stored message whose payloads a parser thread makes. */
export interface ReadTask {
  readonly kind: "read"
  readonly depth: Depth
  readonly inboundEmailId: InboundEmailId
  readonly rawRef: RawRef
  readonly domain: DomainName
  readonly envelope: Envelope
  readonly recipients: ReadonlyArray<{ readonly eventId: EventId; readonly address: string }>
  /** ISO 8601. */
  readonly receivedAt: string
  readonly sha256: Uint8Array
  /** Given with a simulated message, whose sender is not checked. */
  readonly verdicts: Authentication | null
}

/** A stored message of which one attachment is wanted. */
export interface AttachmentTask {
  readonly kind: "attachment"
  readonly index: number
}

/** An event whose content is asked for. It has no bytes of a message. */
export interface ContentTask {
  readonly kind: "content"
  /** The payload of the event, as stored. */
  readonly payload: string
  readonly request: Content.ContentRequest
  /** False when a thread failed to read the HTML: then the plain text alone is read. */
  readonly withHtml: boolean
}

export type Task = ReadTask | AttachmentTask | ContentTask

/** A task with the bytes of its message, which are handed over, not copied. Numbers begin with 1. */
export interface Handed {
  readonly number: number
  readonly task: Task
  readonly message: Uint8Array<ArrayBuffer>
  /** True if the thread holds the message after the sender check until its number is released. */
  readonly isHeld: boolean
}

/** A message to a thread: new tasks, and the numbers of held messages to parse now. */
export interface Batch {
  readonly handed: ReadonlyArray<Handed>
  readonly letOn: ReadonlyArray<number>
}

/** What the rows of a message's events have of it, for lists. */
export interface Listing {
  readonly subject: string
  readonly traits: number
  readonly threadId: string
}

/** A parsed message, as its events show it. */
export interface ReadResult extends Listing {
  /** One for each recipient, in their order, as UTF-8. */
  readonly payloads: ReadonlyArray<Uint8Array>
  readonly sender: string
  readonly parse: "full" | "partial" | "headers"
  /** Our Authentication-Results field, or null where the sender was not checked. */
  readonly authenticationResults: string | null
}

export type AttachmentResult =
  | { readonly filename: string | null; readonly contentType: string; readonly content: Uint8Array }
  | undefined

export type TaskResult = ReadResult | AttachmentResult | Content.Content

/** What became of messages: the payloads of all of them lie one behind the other in one buffer, which is handed over. */
export interface Results {
  readonly tag: "results"
  readonly read: ReadonlyArray<
    Omit<ReadResult, "payloads"> & {
      readonly number: number
      /** Bytes of each payload. */
      readonly lengths: ReadonlyArray<number>
    }
  >
  readonly payloads: ArrayBuffer
  readonly attachments: ReadonlyArray<{ readonly number: number; readonly attachment: AttachmentResult }>
  readonly contents: ReadonlyArray<{ readonly number: number; readonly content: Content.Content }>
  readonly failed: ReadonlyArray<{ readonly number: number; readonly reason: string }>
  /** Put aside until DNS or a decoder has answered: they hold up nothing behind them. */
  readonly aside: ReadonlyArray<number>
  /** Their senders are checked, and they are held until they are let on. */
  readonly held: ReadonlyArray<number>
  /** Processor time in milliseconds that each task used since the last results. */
  readonly used: ReadonlyArray<{ readonly number: number; readonly milliseconds: number }>
}

/** What a parser thread is started with. */
export interface ThreadSettings {
  readonly nameServers: ReadonlyArray<string> | undefined
  readonly authservId: string
  readonly senderChecks: boolean
  /** Niceness of the thread: 0 as the process, up to 19 for less processor time beside other threads. Linux alone has it. */
  readonly niceness: number
  /** Shared: the number of the message that is being parsed, 0 between two. */
  readonly current: Int32Array
}
