import * as LineEnds from "./LineEnds.ts"
import * as OwnFields from "./OwnFields.ts"

/** A header field in a message: its offsets, name, and bytes after the colon. */
export interface HeaderField {
  readonly start: number
  readonly end: number
  readonly name: string
  readonly value: Uint8Array
}

/** A header and the start of its body. */
export interface HeaderBlock {
  readonly fields: ReadonlyArray<HeaderField>
  readonly end: number
}

const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
const DASH = 0x2d
const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09

/**
 * Parses the header fields of a message in order (RFC 5322, section 2.2), each with its folded lines. Never fails,
 * and examines each byte a fixed number of times.
 */
export const fields = (message: Uint8Array): ReadonlyArray<HeaderField> => read(LineEnds.withFeeds(message)).fields

/**
 * Parses the header at `start`. It ends at the empty line. Without one, it ends at the first malformed line that no
 * known mail field follows. Other malformed lines are skipped. A part's header also ends at `--`, where the next part
 * starts.
 */
export const read = (message: Uint8Array, start = 0, isPart = false): HeaderBlock => {
  const found: Array<HeaderField> = []
  let last: number | undefined
  // No received line continues a trace field.
  const ownEnd = start === 0 ? OwnFields.end(message) : start
  let at = start
  while (at < message.length) {
    const end = lineEnd(message, at)
    if (isEmpty(message, at, end)) return { fields: found, end }
    if (isPart && isDashes(message, at)) break
    const nameStart = at === start || at === ownEnd ? withoutBlanks(message, at) : at
    const name = fieldName(message, nameStart, end)
    if (name === undefined && !isBlank(message[at])) {
      last ??= lastMailField(message, at, isPart)
      if (last < at) break
    }
    let next = end
    while (
      next < message.length &&
      next !== ownEnd &&
      isBlank(message[next]) &&
      !isEmpty(message, next, lineEnd(message, next))
    ) {
      next = lineEnd(message, next)
    }
    if (name !== undefined) {
      found.push({
        start: at,
        end: next,
        name,
        value: message.subarray(message.indexOf(COLON, nameStart) + 1, next)
      })
    }
    at = next
  }
  return { fields: found, end: at }
}

/** The start of the last known mail field before the empty line, or -1. */
const lastMailField = (message: Uint8Array, start: number, isPart: boolean): number => {
  let last = -1
  let isBehindDashes = false
  let end = start
  for (let at = start; at < message.length; at = end) {
    end = lineEnd(message, at)
    if (isEmpty(message, at, end)) break
    if (isDashes(message, at)) {
      if (isPart) break
      isBehindDashes = true
    }
    const name = fieldName(message, at, end)
    // After dashes, content fields may belong to the first part.
    if (name !== undefined && (mail.test(name) || (!isBehindDashes && content.test(name)))) last = at
  }
  return last
}

const mail =
  /^(?:from|sender|reply-to|to|cc|bcc|subject|date|message-id|in-reply-to|references|received|return-path|delivered-to|dkim-signature|authentication-results|arc-.+|resent-.+|list-.+|x-.+)$/i
const content = /^(?:mime-version|content-.+)$/i

const lineEnd = (message: Uint8Array, from: number) => {
  const at = message.indexOf(LF, from)
  return at === -1 ? message.length : at + 1
}

/** Whether a line is empty. Some gateways write CR CR LF. */
const isEmpty = (message: Uint8Array, start: number, end: number) => {
  if (message[end - 1] !== LF) return false
  let at = start
  while (message[at] === CR) at++
  return at === end - 1
}

const isDashes = (message: Uint8Array, at: number) => message[at] === DASH && message[at + 1] === DASH

/** The first field continues no other. */
const withoutBlanks = (message: Uint8Array, start: number) => {
  let at = start
  while (isBlank(message[at])) at++
  return at
}

/**
 * The field name: printable ASCII before the colon (RFC 5322, section 2.2), with optional whitespace as in old mail.
 */
const fieldName = (message: Uint8Array, start: number, end: number): string | undefined => {
  let at = start
  while (at < end && isNameByte(message[at])) at++
  const length = at - start
  while (at < end && isBlank(message[at])) at++
  return length > 0 && message[at] === COLON ? latin1(message, start, start + length) : undefined
}

const isNameByte = (byte: number | undefined) => byte !== undefined && byte > 0x20 && byte < 0x7f && byte !== COLON

const latin1 = (message: Uint8Array, start: number, end: number) => {
  let text = ""
  for (let at = start; at < end; at++) text += String.fromCharCode(message[at] ?? 0)
  return text
}
