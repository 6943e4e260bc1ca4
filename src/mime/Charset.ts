import { isUtf8 } from "node:buffer"
import libmime from "libmime"
import * as NodeBuffer from "./NodeBuffer.ts"
import * as Utf7 from "./Utf7.ts"

/**
 * Guesses the charset of bytes with none or a wrong one: UTF-8, else the charset of the surrounding text, else
 * windows-1252.
 */
export const guess = (bytes: Uint8Array, around?: string): string => {
  const text = NodeBuffer.view(bytes)
  if (text.includes(0x1b) && /\x1b\$[@B]/.test(text.toString("latin1"))) return iconv(text, "iso-2022-jp")
  if (isUtf8(text)) return withoutMark(text.toString("utf8"))
  const latin = text.toString("latin1")
  let sequences = 0
  let strays = 0
  const whole = latin.replace(cutOff, "")
  for (const [found] of whole.matchAll(highBytes)) found.length > 1 ? sequences++ : strays++
  // Nearly all bytes are valid in a single-byte charset, so one broken byte does not exclude UTF-8.
  const isBroken = sequences > strays
  const near = around === undefined || (isBroken && isOneByte(plain(around))) ? undefined : strictly(text, around)
  if (near !== undefined) return near
  if (!isBroken) return fromWindows1252(text)
  // One broken byte or a cut character does not turn UTF-8 into windows-1252.
  return inChunks(latin.replace(cutOff, replacement), (chunk) =>
    chunk.replace(highBytes, (found) =>
      found.length > 1 ? Buffer.from(found, "latin1").toString("utf8") : fromWindows1252(Buffer.from(found, "latin1"))
    )
  )
}

/** Changes text of any size with memory for the matches of a chunk. A chunk ends before a byte that begins a character. */
const inChunks = (latin: string, change: (chunk: string) => string): string => {
  const chunks: Array<string> = []
  for (let at = 0, end = 0; at < latin.length; at = end) {
    end = Math.min(at + chunkLength, latin.length)
    for (let more = 0; more < 3 && (latin.charCodeAt(end) & 0xc0) === 0x80; more++) end++
    chunks.push(change(latin.slice(at, end)))
  }
  return chunks.join("")
}

const chunkLength = 65_536

/** Decodes bytes in the declared charset if they fit. */
export const decode = (bytes: Uint8Array, label: string | undefined): string => {
  const text = NodeBuffer.view(bytes)
  const charset = plain(label ?? "")
  if ((text[0] === 0xff && text[1] === 0xfe) || (text[0] === 0xfe && text[1] === 0xff)) {
    if (!charset.startsWith("utf32")) return withoutMark(iconv(text, text[0] === 0xff ? "utf-16le" : "utf-16be"))
  }
  if (unsaid.has(charset)) return guess(text)
  if (isOneByte(charset) && isPlainlyUtf8(text, charset)) return withoutMark(text.toString("utf8"))
  // A declared Latin-1 means windows-1252 (WHATWG Encoding, section 4.2).
  if (latin1.has(charset)) return fromWindows1252(text)
  if (charset === "xmaccyrillic" || charset === "xmacukrainian") return new TextDecoder("x-mac-cyrillic").decode(text)
  if (charset === "iso2022kr" || charset === "csiso2022kr") return iconv(fromShifted(text, "\x0e", "\x0f"), "euc-kr")
  if (charset === "hzgb2312" || charset === "hz") return iconv(fromShifted(text, "~{", "~}"), "gb18030")
  const decoded = utf7.has(charset) ? Utf7.decode(text) : iconv(text, label ?? "")
  // The bytes do not fit, or the charset is unknown.
  if (decoded.includes("\ufffd") && (isUtf8(text) || decoded === text.toString("utf8"))) return guess(text)
  return withoutMark(decoded)
}

/** The name of a charset, letters and digits only. */
const plain = (label: string) =>
  label
    .toLowerCase()
    .replace(/\*.*$/s, "")
    .replace(/[^a-z0-9]/g, "")

const isOneByte = (charset: string) =>
  /^(?:iso8859\d+[ei]?|(?:windows|cp)(?:125\d|874)|(?:cp|ibm)\d{3}|koi8[a-z]*|x?mac[a-z]*|latin\d+|l\d|tis620)$/.test(
    charset
  )

/** Two UTF-8 characters without an invalid byte hardly occur by chance under a single-byte label. */
const isPlainlyUtf8 = (text: Buffer, charset: string): boolean => {
  if (!isUtf8(text)) return false
  let found = 0
  for (const byte of text) if (byte >= 0xc2 && ++found === 2) break
  // Some Thai words are valid UTF-8 by chance, those of other scripts are not.
  return found === 2 && (!thai.has(charset) || text.includes("\xe0\xb8", 0, "latin1"))
}

const thai = new Set(["tis620", "iso885911", "windows874", "cp874", "ibm874"])

/**
 * Decodes raw bytes in a charset. Undefined if they are invalid in it: 7-bit charsets have none, and text has no
 * control characters.
 */
const strictly = (text: Buffer, label: string): string | undefined => {
  const charset = plain(label)
  if (unsaid.has(charset) || latin1.has(charset) || /^(?:utf|iso2022|csiso2022|hz|unicode)/.test(charset))
    return undefined
  const decoded = decode(text, label)
  return /[\ufffd\u0080-\u009f]/.test(decoded) ? undefined : decoded
}

const unsaid = new Set([
  "",
  "utf8",
  "usascii",
  "ascii",
  "unknown8bit",
  "unknown",
  "8bit",
  "7bit",
  "binary",
  "none",
  "default",
  "xunknown"
])
const utf7 = new Set(["utf7", "unicode11utf7", "csunicode11utf7"])
const latin1 = new Set(["iso88591", "latin1", "windows1252", "cp1252", "l1"])

const cutOff = /(?:[\xc2-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{2})(?=$|")/g
const replacement = "\xef\xbf\xbd"
const highBytes =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g

const windows1252 = [...new TextDecoder("windows-1252").decode(Uint8Array.from({ length: 128 }, (_, at) => at + 0x80))]

const fromWindows1252 = (text: Buffer) =>
  inChunks(text.toString("latin1"), (chunk) =>
    chunk.replace(/[\x80-\x9f]/g, (found) => windows1252[found.charCodeAt(0) - 0x80] ?? found)
  )

const withoutMark = (text: string) => (text.startsWith("\ufeff") ? text.slice(1) : text)

/** Decodes with libmime, which knows all charset names. An unknown one is UTF-8. */
const iconv = (text: Buffer, charset: string) => libmime.decodeWord(charset, "B", text.toString("base64"))

/** Converts text that shifts between ASCII and a two-byte set to its 8-bit form (RFC 1557, RFC 1843). */
const fromShifted = (text: Buffer, into: string, back: string): Buffer => {
  const latin = text.toString("latin1").replaceAll("\x1b$)C", "")
  const eightBits = Buffer.alloc(latin.length)
  let length = 0
  const write = (run: string) => {
    length += eightBits.write(run, length, "latin1")
  }
  let end = 0
  for (let at = 0, isShifted = false; at <= latin.length; isShifted = true) {
    const next = latin.indexOf(into, at)
    const stop = next === -1 ? latin.length : next
    if (isShifted) {
      if (end !== -1 && end < at) end = latin.indexOf(back, at)
      const until = end === -1 || end > stop ? stop : end
      const from = length
      write(latin.slice(at, until))
      for (let byte = from; byte < length; byte++) {
        const value = eightBits[byte] ?? 0
        if (value >= 0x21 && value <= 0x7e) eightBits[byte] = value | 0x80
      }
      at = until === stop ? stop : until + back.length
    }
    write(latin.slice(at, stop))
    if (next === -1) break
    at = next + into.length
  }
  const joined = eightBits.subarray(0, length)
  if (into !== "~{") return joined
  return Buffer.from(
    joined
      .toString("latin1")
      .replace(/~\r?\n/g, "")
      .replaceAll("~~", "~"),
    "latin1"
  )
}
