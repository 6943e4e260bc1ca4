import type { InboundEvent } from "../model/InboundEvent.ts"

/** Maximum size of the event of a message with this many bytes. */
export const most = (messageBytes: number): number => 3 * messageBytes + 1024 * 1024

export interface Fitted {
  readonly payload: string
  readonly parse: InboundEvent["parse"]
}

/**
 * Renders the event as JSON within a number of bytes, with its `parse`. Few events exceed it. For those, it truncates
 * the text, then the HTML, then the header fields, and sets `parse` to `partial`.
 */
export const fitted = (event: InboundEvent, room: number): Fitted => {
  const whole = JSON.stringify(event)
  // A UTF-16 unit has at most three bytes in UTF-8.
  if (whole.length * 3 <= room || Buffer.byteLength(whole) <= room) return { payload: whole, parse: event.parse }
  const less: InboundEvent = { ...event, parse: event.parse === "full" ? "partial" : event.parse }
  let left = room - bytesOf({ ...less, text: "", html: null, headers: [] })
  const headers = less.headers.slice(0, fieldsWithin(less.headers, left))
  left -= bytesOf(headers)
  const html = less.html === null ? null : within(less.html, left)
  if (html !== null) left -= bytesOf(html)
  return { payload: JSON.stringify({ ...less, text: within(less.text, left), html, headers }), parse: less.parse }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const fieldsWithin = (fields: InboundEvent["headers"], room: number): number => {
  let bytes = bytesOf([])
  let count = 0
  for (const field of fields) {
    bytes += bytesOf(field) + (count === 0 ? 0 : 1)
    if (bytes > room) break
    count++
  }
  return count
}

/** The start of a text within a number of bytes in JSON, without a split character. Examines each unit once. */
const within = (text: string, room: number): string => {
  let bytes = 2
  let at = 0
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0
    bytes += bytesOfCharacter(code)
    if (bytes > room) break
    at += code > 0xffff ? 2 : 1
  }
  return text.slice(0, at)
}

/**
 * In JSON, line ends, TAB, quotation marks and backslashes take two bytes, other control characters and lone
 * surrogates six.
 */
const bytesOfCharacter = (code: number): number => {
  if (code === 0x22 || code === 0x5c || (code >= 0x08 && code <= 0x0d && code !== 0x0b)) return 2
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) return 6
  if (code < 0x80) return 1
  return code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
}
