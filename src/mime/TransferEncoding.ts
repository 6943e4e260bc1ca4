import * as EndOfBase64 from "./EndOfBase64.ts"
import * as LegibleText from "./LegibleText.ts"
import * as NodeBuffer from "./NodeBuffer.ts"
import type { Part } from "./Parts.ts"
import * as QuotedPrintable from "./QuotedPrintable.ts"
import * as Uuencode from "./Uuencode.ts"

/** A part without its transfer encoding. */
export interface Decoded {
  readonly encoded: Uint8Array
  readonly content: Uint8Array
  /** False if invalid base64 bytes were discarded. */
  readonly isWhole: boolean
  /** Plain text after base64, such as a mailing list's footer. */
  readonly footer: Uint8Array
}

const nothing = new Uint8Array()
const LF = 0x0a
const CR = 0x0d
const EQUALS = 0x3d

/** Never fails, and examines each byte a fixed number of times. `keepsBlanks` is for quoted-printable. */
export const decode = ({ body, header }: Part, keepsBlanks = false): Decoded => {
  const { charset, disposition, encoding, filename, type } = header
  switch (encoding) {
    case "none":
      return { encoded: body, content: body, isWhole: true, footer: nothing }
    case "uuencode":
      return { encoded: body, content: Uuencode.decode(body), isWhole: true, footer: nothing }
    case "quoted-printable":
      return { encoded: body, content: QuotedPrintable.decode(body, keepsBlanks), isWhole: true, footer: nothing }
    case "base64": {
      const whole = base64(body)
      if (!type?.startsWith("text/") || (whole.isWhole && LegibleText.canBe(whole.content, undefined))) return whole
      const end = EndOfBase64.find(body, charset, (encoded) => base64(encoded))
      if (end === 0) return { encoded: body, content: body, isWhole: true, footer: nothing }
      if (end === body.length) return whole
      // A list's footer does not belong to a file.
      const isFile = filename !== null || (disposition !== null && disposition !== "inline")
      return { ...base64(body.subarray(0, end)), footer: isFile ? nothing : body.subarray(end) }
    }
  }
}

/** The whole decoded part, with the result of another decoder if better. */
export const content = (decoded: Decoded, mended: Uint8Array = decoded.content): Uint8Array =>
  decoded.footer.length === 0 ? mended : Buffer.concat([mended, decoded.footer])

const padding = 64
const blank = 65
const stray = 66

/** The base64 value of each byte (RFC 2045, section 6.8): six bits, or one of the above. */
const values = new Uint8Array(256).fill(stray)
for (const byte of [0x09, LF, 0x0b, 0x0c, CR, 0x20]) values[byte] = blank
for (const [value, letter] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="].entries()) {
  values[letter.charCodeAt(0)] = value
}
const valueOf = (byte = 0): number => values[byte] ?? stray

/** The number of base64 bytes decoded at once. */
const chunkBytes = 16 * 1024

/**
 * Decodes base64 in lines of equal length, the usual form, with the platform's decoder. Undefined for other forms: if
 * that decoder skips bytes, its result is too short for the lines.
 */
const evenBase64 = (encoded: Uint8Array): Uint8Array | undefined => {
  const bytes = NodeBuffer.view(encoded)
  const lineEnd = bytes.indexOf("\r\n")
  const width = lineEnd === -1 ? bytes.length : lineEnd
  if (width === 0 || width % 4 !== 0) return undefined
  let end = bytes.length
  while (end > 0 && (bytes[end - 1] === LF || bytes[end - 1] === CR)) end--
  const step = width + 2
  for (let at = width; at < end; at += step) if (bytes[at] !== CR || bytes[at + 1] !== LF) return undefined
  const letters = end - 2 * Math.floor(end / step)
  if (letters % 4 !== 0) return undefined
  // The URL alphabet, which that decoder accepts too.
  if (bytes.includes(0x2d) || bytes.includes(0x5f)) return undefined
  const padded = bytes[end - 1] !== EQUALS ? 0 : bytes[end - 2] !== EQUALS ? 1 : 2
  const content = Buffer.allocUnsafe((letters / 4) * 3)
  let length = 0
  // In groups of lines, because the text of a large file would exceed the heap's young generation.
  const chunk = step * Math.max(1, Math.floor(chunkBytes / step))
  for (let at = 0; at < end; at += chunk) {
    length += content.write(bytes.toString("latin1", at, Math.min(end, at + chunk)), length, "base64")
  }
  return length === content.length - padded ? content.subarray(0, length) : undefined
}

const base64 = (encoded: Uint8Array): Decoded => {
  const even = evenBase64(encoded)
  if (even !== undefined) return { encoded, content: even, isWhole: true, footer: nothing }
  const content = Buffer.allocUnsafe(Math.ceil(encoded.length / 4) * 3)
  let length = 0
  let isWhole = true
  /** Remaining bits of an incomplete byte, and their number. */
  let bits = 0
  let held = 0
  for (let at = 0; at < encoded.length; at++) {
    // Four at a time, the usual case.
    while (held === 0 && at + 4 < encoded.length) {
      const a = valueOf(encoded[at])
      const b = valueOf(encoded[at + 1])
      const c = valueOf(encoded[at + 2])
      const d = valueOf(encoded[at + 3])
      if ((a | b | c | d) >= padding) break
      content[length++] = (a << 2) | (b >> 4)
      content[length++] = (b << 4) | (c >> 2)
      content[length++] = (c << 6) | d
      at += 4
    }
    const value = valueOf(encoded[at])
    if (value < padding) {
      bits = ((bits << 6) | value) & 0xfff
      held += 6
      if (held >= 8) {
        held -= 8
        content[length++] = bits >> held
      }
    } else if (value === stray || (value === padding && held === 6)) isWhole = false
    // Another piece may follow the padding.
    if (value === padding) held = 0
  }
  return { encoded, content: content.subarray(0, length), isWhole: isWhole && held !== 6, footer: nothing }
}
