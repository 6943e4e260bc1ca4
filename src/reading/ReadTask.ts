import type { MessagePort } from "node:worker_threads"
import type * as Content from "../content/html/Content.ts"
import type * as CarriedMessage from "../delivery/formats/CarriedMessage.ts"
import type { MailPart } from "../delivery/formats/WebhookFormat.ts"
import type { DomainName } from "../model/Domain.ts"
import type { Envelope, InboundEmailId, RawRef } from "../model/InboundEmail.ts"
import type { Authentication } from "../model/InboundEvent.ts"
import type { RuleInForce } from "../model/SenderRule.ts"
import type { HoldReason } from "../model/Trust.ts"
import type { WebhookId } from "../model/Webhook.ts"
import type { MailRecipient } from "./Mail.ts"

/**
 * Maximum messages per batch to a thread, with their total bytes and estimated milliseconds. A larger message goes
 * alone.
 */
export const mostToParse = 16
export const mostBytesToParse = 1024 * 1024
export const mostMillisecondsToParse = 20

/** How much of a message to parse: less after a reader crashed. */
export type Depth = "full" | "headers" | "nothing"

/** A stored message to be turned into payloads by a parser thread. */
export interface ReadTask {
  readonly kind: "read"
  readonly depth: Depth
  readonly inboundEmailId: InboundEmailId
  readonly rawRef: RawRef
  readonly domain: DomainName
  readonly envelope: Envelope
  readonly recipients: ReadonlyArray<MailRecipient>
  /** It was parsed before, for other recipients. */
  readonly isRepeated: boolean
  /** ISO 8601. */
  readonly receivedAt: string
  readonly sha256: Uint8Array
  readonly rules: ReadonlyArray<RuleInForce>
  /** The verdicts of a simulated message, whose sender is not checked. */
  readonly verdicts: Authentication | null
}

/** A request for one attachment of a stored message. */
export interface AttachmentTask {
  readonly kind: "attachment"
  readonly index: number
}

/** A request for the content of an event, without the bytes of its message. */
export interface ContentTask {
  readonly kind: "content"
  /** The payload of the event, as stored. */
  readonly payload: string
  readonly request: Content.ContentRequest
  /** False if a thread failed to parse the HTML. Then only the plain text is used. */
  readonly withHtml: boolean
}

/** A request for the HTML part of an event as a page for a sandboxed frame. */
export interface PageTask {
  readonly kind: "page"
  /** The payload of the event, as stored. */
  readonly payload: string
}

/** A request for the header of a stored message with Inlet's Authentication-Results field. The message is its start. */
export interface HeaderTask {
  readonly kind: "header"
  readonly authenticationResults: string | null
  readonly authservId: string
  /** False if the message goes on behind these bytes. */
  readonly isWhole: boolean
}

/** A request for a stored message for a webhook: its bytes or valid UTF-8, with or without attachments and text. */
export interface CarryTask extends Omit<CarriedMessage.Stored, "message"> {
  readonly kind: "carry"
  readonly asText: boolean
  readonly withParts: boolean
  readonly withText: boolean
}

export type Task = ReadTask | AttachmentTask | ContentTask | PageTask | HeaderTask | CarryTask

/** A task with the bytes of its message, which are transferred, not copied. Numbers start at 1. */
export interface Handed {
  readonly number: number
  readonly task: Task
  readonly message: Uint8Array<ArrayBuffer>
  /** True if the thread holds the message after the sender check until its number is released. */
  readonly isHeld: boolean
}

/** The bytes in memory of their own, which is transferred as a whole. */
export const movable = (message: Uint8Array): Uint8Array<ArrayBuffer> => {
  const { buffer, byteLength } = message
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(message)
}

/** A message to a thread: new tasks, and the numbers of held messages to parse now. */
export interface Batch {
  readonly handed: ReadonlyArray<Handed>
  readonly letOn: ReadonlyArray<number>
}

/** The columns for lists in the rows of a message's events. */
export interface Listing {
  readonly subject: string
  readonly traits: number
  readonly threadId: string
  /** Null without a Message-ID. */
  readonly messageKey: bigint | null
}

/** What was judged of a message for one of its recipients. */
export interface Judged {
  /** Why a sender rule holds the delivery, or null. */
  readonly hold: HoldReason | null
  /** The webhook that takes it, by its address and its kind. */
  readonly webhookId: WebhookId
  readonly isConfirmed: boolean
}

/** A parsed message in the form of its events. */
export interface ReadResult extends Listing {
  /** One for each recipient, in order, as UTF-8. */
  readonly payloads: ReadonlyArray<Uint8Array>
  readonly judged: ReadonlyArray<Judged>
  /** Whether it is a reply, an automatic reply or a bounce. */
  readonly isAnswer: boolean
  readonly sender: string
  readonly parse: "full" | "partial" | "headers"
  /** Inlet's Authentication-Results field, or null if the sender was not checked. */
  readonly authenticationResults: string | null
}

export type AttachmentResult =
  | { readonly filename: string | null; readonly contentType: string; readonly content: Uint8Array }
  | undefined

/** A message for a webhook, and its attachments in the order of the event. */
export interface CarryResult {
  /** The text for receivers, null if it was not asked for. */
  readonly text: string | null
  readonly message: Uint8Array
  readonly parts: ReadonlyArray<MailPart>
}

/** An answer for a client of the API: an attachment, a content, a page or null without HTML, or the bytes of a header. */
export type RequestResult = AttachmentResult | Content.Content | string | null | Uint8Array

export type TaskResult = ReadResult | CarryResult | RequestResult

/** The results of messages. All payloads are concatenated in one buffer, which is transferred. */
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
  readonly answers: ReadonlyArray<{ readonly number: number; readonly answer: RequestResult }>
  readonly carried: ReadonlyArray<{
    readonly number: number
    /** The message and the content of its parts, transferred. */
    readonly bytes: ArrayBuffer
    readonly messageBytes: number
    readonly text: string | null
    readonly parts: ReadonlyArray<Omit<MailPart, "content"> & { readonly size: number }>
  }>
  readonly failed: ReadonlyArray<{ readonly number: number; readonly reason: string }>
  /** Messages that wait for DNS or a decoder, and delay no others. */
  readonly aside: ReadonlyArray<number>
  /** Messages with a checked sender, held until they are released. */
  readonly held: ReadonlyArray<number>
  /** The CPU time in milliseconds of each task since the last results. */
  readonly used: ReadonlyArray<{ readonly number: number; readonly milliseconds: number }>
}

/** The start parameters of a parser thread. */
export interface ThreadSettings {
  readonly nameServers: ReadonlyArray<string> | undefined
  /** Answers the DNS queries of sender checks instead of the name servers. */
  readonly dnsPort?: MessagePort | undefined
  readonly authservId: string
  readonly senderChecks: boolean
  /** What is added to the niceness of the process, for less CPU time than its other threads. Only Linux has it. */
  readonly niceness: number
  /** The URL of its script. */
  readonly script: string
  /** Shared: the number of the current message, 0 without one. */
  readonly current: Int32Array
}
