import { isUtf8 } from "node:buffer"
import * as Charset from "../../mime/Charset.ts"
import * as LineEnds from "../../mime/LineEnds.ts"
import * as NodeBuffer from "../../mime/NodeBuffer.ts"
import * as Parts from "../../mime/Parts.ts"
import * as TransferEncoding from "../../mime/TransferEncoding.ts"

/** Maximum depth of forwarded messages that stay readable. Deeper ones become base64 as a whole. */
const deepest = 8

/** Maximum bytes of a header line whose charset is guessed. */
const longestGuess = 64 * 1024

const LF = 0x0a
const CR = 0x0d
const charactersOfALine = 76

/** A change of the message: these bytes instead of those. */
interface Change {
  readonly start: number
  readonly end: number
  readonly bytes: Uint8Array
}

/**
 * Makes a message valid UTF-8, for requests that carry text. A valid one stays as it is. In others, parts that are not
 * UTF-8 become base64 (RFC 6152, section 3), and all other lines are decoded. Breaks a signature over such a part, as
 * any 7-bit relay would.
 */
export const of = (message: Uint8Array): Uint8Array => (isUtf8(message) ? message : decodedLines(recoded(message, 0)))

/** Recodes the parts that are not UTF-8. */
const recoded = (received: Uint8Array, depth: number): Uint8Array => {
  const message = LineEnds.withFeeds(received)
  const changes: Array<Change> = []
  for (const part of Parts.split(message).parts) {
    // A multipart without its boundary is one line of text after another.
    if (isUtf8(part.body) || isMultipart(part)) continue
    const start = part.body.byteOffset - message.byteOffset
    const end = start + part.body.byteLength
    // Libraries read a forwarded message only if it has no encoding (RFC 2046, section 5.2.1).
    if (part.header.type === "message/rfc822" && part.header.encoding === "none" && depth < deepest) {
      changes.push({ start, end, bytes: recoded(part.body, depth + 1) })
      continue
    }
    for (const { end: after, name, start: before } of part.fields) {
      if (name.toLowerCase() === "content-transfer-encoding")
        changes.push({ start: before, end: after, bytes: nothing })
    }
    const emptyLine = emptyLineBefore(message, start)
    const at = part.fields[0]?.start ?? emptyLine ?? start
    const content = base64(TransferEncoding.content(TransferEncoding.decode(part)))
    const gap = emptyLine === undefined ? "\r\n" : ""
    const last = end === message.length ? "\r\n" : ""
    changes.push(
      { start: at, end: at, bytes: Buffer.from("Content-Transfer-Encoding: base64\r\n") },
      { start, end, bytes: Buffer.from(`${gap}${content}${last}`, "latin1") }
    )
  }
  return changed(message, changes)
}

const nothing = new Uint8Array()

const isMultipart = ({ fields }: Parts.Part): boolean => {
  const field = fields.find(({ name }) => name.toLowerCase() === "content-type")
  return field !== undefined && /^\s*multipart\b/i.test(Buffer.from(field.value.subarray(0, 1_000)).toString("latin1"))
}

/** The start of the empty line that ends here, or undefined without one. */
const emptyLineBefore = (message: Uint8Array, end: number): number | undefined => {
  if (message[end - 1] !== LF) return undefined
  let start = end - 1
  while (message[start - 1] === CR) start--
  return start === 0 || message[start - 1] === LF ? start : undefined
}

const changed = (message: Uint8Array, changes: ReadonlyArray<Change>): Uint8Array => {
  if (changes.length === 0) return message
  const pieces: Array<Uint8Array> = []
  let at = 0
  for (const { bytes, end, start } of changes.toSorted((one, other) => one.start - other.start)) {
    pieces.push(message.subarray(at, start), bytes)
    at = end
  }
  pieces.push(message.subarray(at))
  return Buffer.concat(pieces)
}

const base64 = (content: Uint8Array): string => {
  const text = NodeBuffer.view(content).toString("base64")
  const lines: Array<string> = []
  for (let at = 0; at < text.length; at += charactersOfALine) lines.push(text.slice(at, at + charactersOfALine))
  return lines.join("\r\n")
}

/** Decodes each line that is not UTF-8, such as a raw header field in another charset. */
const decodedLines = (message: Uint8Array): Uint8Array => {
  if (isUtf8(message)) return message
  const bytes = NodeBuffer.view(message)
  const pieces: Array<Uint8Array> = []
  let kept = 0
  for (let at = 0; at < bytes.length; ) {
    const feed = bytes.indexOf(LF, at)
    const end = feed === -1 ? bytes.length : feed
    const line = bytes.subarray(at, end)
    if (!isUtf8(line)) {
      const text = line.length > longestGuess ? line.toString("latin1") : Charset.guess(line)
      pieces.push(bytes.subarray(kept, at), Buffer.from(text.toWellFormed()))
      kept = end
    }
    at = end + 1
  }
  pieces.push(bytes.subarray(kept))
  return Buffer.concat(pieces)
}
