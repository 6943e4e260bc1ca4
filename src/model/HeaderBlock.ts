/** One header field as it stands in a message: its offsets, its name, and its bytes after the colon. */
export interface HeaderField {
  readonly start: number
  readonly end: number
  readonly name: string
  readonly value: Uint8Array
}

const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09

/**
 * The header fields of a message in order (RFC 5322, section 2.2), each with
 * its folded lines. Ends at the empty line; a line that is no field is passed
 * over. Never fails, and looks at each byte once.
 */
export const fields = (message: Uint8Array): ReadonlyArray<HeaderField> => {
  const found: Array<HeaderField> = []
  let start = 0
  while (start < message.length) {
    let end = lineEnd(message, start)
    const first = message[start]
    if (first === LF || (first === CR && message[start + 1] === LF)) break
    while (end < message.length && isBlank(message[end])) end = lineEnd(message, end)
    const colon = message.subarray(start, end).indexOf(COLON)
    if (colon > 0) {
      const name = Buffer.from(message.buffer, message.byteOffset + start, colon)
        .toString("latin1")
        .trimEnd()
      if (/^[\x21-\x7e]+$/.test(name)) {
        found.push({ start, end, name, value: message.subarray(start + colon + 1, end) })
      }
    }
    start = end
  }
  return found
}

const lineEnd = (message: Uint8Array, from: number) => {
  const at = message.indexOf(LF, from)
  return at === -1 ? message.length : at + 1
}
