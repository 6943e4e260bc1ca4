/** What the fields begin with that this service puts in front of a stored message, and the line that they end with. */
const begin = "Return-Path: <"
const received = "\r\nReceived: from "
const lastLine = /\r\n\t[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000\r\n/

/** As much as they can be. */
const longest = 4_096

/**
 * Where the message as it came begins behind our trace fields, 0 where there are none. A
 * message whose first line begins with a blank would else go on with the last of them.
 */
export const end = (message: Uint8Array): number => {
  if (message[0] !== begin.charCodeAt(0) || message[1] !== begin.charCodeAt(1)) return 0
  const text = Buffer.from(message.buffer, message.byteOffset, Math.min(message.byteLength, longest)).toString("latin1")
  const feed = text.indexOf("\r\n")
  if (!text.startsWith(begin) || !text.startsWith(received, feed)) return 0
  const date = lastLine.exec(text)
  // Between the two stand folded lines alone.
  const ends = date !== null && /^[^\r\n]*(?:\r\n\t[^\r\n]*)*$/.test(text.slice(feed + 2, date.index))
  return ends ? date.index + date[0].length : 0
}
