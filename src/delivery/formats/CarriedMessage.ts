import * as HeaderBlock from "../../mime/HeaderBlock.ts"
import * as LineEnds from "../../mime/LineEnds.ts"
import * as NodeBuffer from "../../mime/NodeBuffer.ts"
import type { Spam } from "../../model/Spam.ts"
import * as AuthenticationResults from "../../sender/AuthenticationResults.ts"
import * as SpamFields from "./SpamFields.ts"

const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09

/** Header fields in which receivers expect the provider's own statements about a mail. */
const claims =
  /^(?:return-path|x-original-to|x-envelope-(?:from|to)|received-spf|x-spam(?:-.*)?|x-mailgun-(?:sflag|sscore|spf|dkim-check-result|incoming))$/

/** Whether a receiver would take this field for a statement of its provider. Some libraries equate `_` and `-`. */
export const isClaim = (name: string): boolean => claims.test(name.toLowerCase().replaceAll("_", "-"))

/** A stored message, and what the carried one says of it. */
export interface Stored {
  readonly message: Uint8Array
  /** Bytes of Inlet's trace fields in front of it. */
  readonly traceBytes: number
  readonly recipient: string
  /** Inlet's field about the sender, or null if it was not checked. */
  readonly authenticationResults: string | null
  readonly authservId: string
  /** What the mail scanner said. Undefined where none did. */
  readonly spam: Spam | undefined
}

/**
 * Makes the message for one recipient: `X-Original-To`, so that two events of one message differ, `X-Spam-*` if it was
 * scanned, then the message as `…/raw` returns it, without claims in its header. The same bytes on every attempt.
 */
export const of = ({ authenticationResults, authservId, message, recipient, spam, traceBytes }: Stored): Uint8Array => {
  const unclaimed = Buffer.concat([message.subarray(0, traceBytes), ...withoutClaims(message.subarray(traceBytes))])
  return Buffer.concat([
    Buffer.from(`X-Original-To: ${recipient}\r\n`),
    SpamFields.lines(SpamFields.postmark(spam)),
    AuthenticationResults.put({ message: unclaimed, authenticationResults, authservId })
  ])
}

/**
 * Leaves out fields that claim to be the provider's, with their folded lines. Libraries disagree about malformed
 * headers, so every line that any of them could read as a field counts: also after a bare CR.
 */
const withoutClaims = (received: Uint8Array): ReadonlyArray<Uint8Array> => {
  const bytes = NodeBuffer.view(received)
  const end = headerEnd(bytes)
  const kept: Array<Uint8Array> = []
  let from = 0
  let goes = false
  for (let at = 0; at < end; ) {
    const next = lineEnd(bytes, at)
    const went = goes
    if (at === 0 || !isBlank(bytes[at])) goes = isClaim(nameIn(bytes, at, fieldEnd(bytes, next, end)))
    if (goes && !went) kept.push(bytes.subarray(from, at))
    if (goes) {
      from = next
      // The line before ended in a bare CR, which some libraries do not see.
      if (at > 0 && bytes[at - 1] === CR && bytes[next - 1] === LF) kept.push(Buffer.from("\n"))
    }
    at = next
  }
  kept.push(bytes.subarray(from))
  return kept
}

/** The end of the header for the most lenient library: the first empty line, even after malformed lines. */
const headerEnd = (bytes: Buffer): number => {
  const { end } = HeaderBlock.read(LineEnds.withFeeds(bytes))
  for (let at = Math.max(0, end - 1); ; ) {
    const feed = bytes.indexOf(LF, at)
    if (feed === -1) return bytes.length
    let start = feed
    while (start > 0 && bytes[start - 1] === CR) start--
    if (start === 0 || bytes[start - 1] === LF) return feed + 1
    at = feed + 1
  }
}

/** The start of the next line after CR LF, LF or CR. A run of CRs ends one line. */
const lineEnd = (bytes: Buffer, from: number): number => {
  let at = from
  while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at++
  while (bytes[at] === CR) at++
  return bytes[at] === LF ? at + 1 : at
}

/** The end of a field with its folded lines, of which the first ends at `next`. The header ends at `headerEnd`. */
const fieldEnd = (bytes: Buffer, next: number, headerEnd: number): number => {
  let end = next
  while (end < headerEnd && isBlank(bytes[end])) end = lineEnd(bytes, end)
  return Math.min(end, headerEnd)
}

/** Longer names are no claims. */
const longestName = 256

/**
 * The text before the colon, without whitespace and control characters. Some libraries unfold a field before they look
 * for its colon, and trim any number of blanks in front of it.
 */
const nameIn = (bytes: Buffer, start: number, end: number): string => {
  let name = ""
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte === COLON) return name
    if (byte <= 0x20 || (byte >= 0x7f && byte <= 0xa0)) continue
    if (name.length === longestName) return ""
    name += String.fromCharCode(byte)
  }
  return ""
}
