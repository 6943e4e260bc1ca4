import * as NodeBuffer from "./NodeBuffer.ts"

/** The first bytes of the trace fields in front of a stored message, and their last line. */
const begin = "Return-Path: <"
const received = "\r\nReceived: from "
const lastLine = /\r\n\t[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000\r\n/

/** The maximum length of the trace fields. */
const longest = 4_096

/**
 * The start of the received message after the trace fields, or 0 without them. A first line with leading whitespace
 * would otherwise continue the last trace field.
 */
export const end = (message: Uint8Array): number => {
  if (message[0] !== begin.charCodeAt(0) || message[1] !== begin.charCodeAt(1)) return 0
  const text = NodeBuffer.view(message.subarray(0, longest)).toString("latin1")
  const feed = text.indexOf("\r\n")
  if (!text.startsWith(begin) || !text.startsWith(received, feed)) return 0
  const date = lastLine.exec(text)
  // Only folded lines are between the two.
  const ends = date !== null && /^[^\r\n]*(?:\r\n\t[^\r\n]*)*$/.test(text.slice(feed + 2, date.index))
  return ends ? date.index + date[0].length : 0
}
