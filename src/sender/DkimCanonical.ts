import { createHash, type Hash } from "node:crypto"
import * as PlainHeader from "./PlainHeader.ts"

/** The canonicalization (RFC 6376, section 3.4). */
export type Canonicalization = "simple" | "relaxed"

/** Bytes processed at once, so that they stay in the processor's caches. */
const chunkBytes = 32 * 1024

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const BLANK = 0x20

/** The name in lower case and the value in one line (RFC 6376, section 3.4.2), or both unchanged. */
const written = ({ line, name }: PlainHeader.PlainField, canonicalization: Canonicalization): string =>
  canonicalization === "relaxed" ? `${name}:${PlainHeader.value(line)}` : line

/** The field with an empty `b=`, without its whitespace (RFC 6376, section 3.7). */
const withoutSignature = (line: string): string => {
  const colon = line.indexOf(":") + 1
  const specs = line
    .slice(colon)
    .split(";")
    .map((spec) => (/^\s*b\s*=/.test(spec) ? spec.slice(0, spec.indexOf("=") + 1) : spec))
  return line.slice(0, colon) + specs.join(";")
}

/**
 * The signed header bytes of a signature field: for each name the last field not used yet, and the signature itself
 * (RFC 6376, sections 3.7 and 5.4.2).
 */
export const header = (
  fields: ReadonlyArray<PlainHeader.PlainField>,
  names: ReadonlyArray<string>,
  signature: PlainHeader.PlainField,
  canonicalization: Canonicalization
): Buffer => {
  const left = new Map(names.map((name): [string, Array<PlainHeader.PlainField>] => [name, []]))
  for (const field of fields) left.get(field.name)?.push(field)
  let signed = ""
  for (const name of names) {
    const field = left.get(name)?.pop()
    if (field !== undefined) signed += `${written(field, canonicalization)}\r\n`
  }
  return Buffer.from(signed + withoutSignature(written(signature, canonicalization)), "latin1")
}

/** The hash of a body (RFC 6376, sections 3.4.3, 3.4.4 and 3.7). A bare LF counts as a line end. */
export const bodyHash = (body: Buffer, canonicalization: Canonicalization): string => {
  const isRelaxed = canonicalization === "relaxed"
  const hash = createHash("sha256")
  const end = withoutEmptyLines(body, isRelaxed)
  for (let start = 0, next = 0; start < end; start = next) {
    const feed = body.indexOf(LF, start + chunkBytes)
    next = feed === -1 || feed >= end ? end : feed + 1
    update(hash, body.subarray(start, next), isRelaxed)
  }
  if (end > 0 || !isRelaxed) hash.update("\r\n")
  return hash.digest("base64")
}

/** The end of the body without trailing empty lines. */
const withoutEmptyLines = (body: Buffer, areBlanksEmpty: boolean): number => {
  let end = body.length
  for (;;) {
    const last = body[end - 1]
    if (last === LF) end -= body[end - 2] === CR ? 2 : 1
    else if (areBlanksEmpty && (last === BLANK || last === TAB)) end--
    else return end
  }
}

/** A chunk of complete lines, hashed unchanged if nothing in them changes. */
const update = (hash: Hash, lines: Buffer, isRelaxed: boolean): void => {
  const text = lines.toString("latin1")
  const fed = hasBareFeed(text) ? text.replace(/(?<!\r)\n/g, "\r\n") : text
  // Base64 has none, which the platform finds in a tenth of the time.
  const hasBlanks = lines.includes(BLANK) || lines.includes(TAB)
  const written = isRelaxed && hasBlanks ? relaxedLines(fed) : fed
  if (written === text) hash.update(lines)
  else hash.update(written, "latin1")
}

/** Reads a run of whitespace three times at any length. */
const relaxedLines = (text: string): string =>
  /[ \t]{2}|\t| \r\n/.test(text)
    ? text.replace(/[ \t]+\r\n|[ \t]{2,}|\t/g, (run) => (run.endsWith("\n") ? "\r\n" : " "))
    : text

const hasBareFeed = (text: string): boolean => {
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (text.charCodeAt(at - 1) !== CR) return true
  }
  return false
}
