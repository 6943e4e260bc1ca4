import { isAscii } from "node:buffer"
import * as Charset from "./Charset.ts"
import * as EncodedWords from "./EncodedWords.ts"
import type { HeaderField } from "./HeaderBlock.ts"
import * as LineEnds from "./LineEnds.ts"

/** The unfolded value of a field as it stands, encoded words and all; `charset` is what raw bytes beyond ASCII may be in. */
export const rawValue = (field: HeaderField, charset?: string): string => {
  const { buffer, byteLength, byteOffset } = field.value
  const latin1 = Buffer.from(buffer, byteOffset, byteLength).toString("latin1")
  // Most need no detection. An escape may switch to another set.
  if (isAscii(field.value) && !latin1.includes("\x1b")) return LineEnds.unfolded(latin1).trim()
  return LineEnds.unfolded(Charset.guess(Buffer.from(EncodedWords.escapeRaw(latin1), "latin1"), charset)).trim()
}

/** Text with its encoded words decoded, in one line. */
export const decoded = (text: string): string => oneLine(EncodedWords.decode(text))

/** The value as a person reads it: unfolded, encoded words decoded (RFC 2047), one line. */
export const value = (field: HeaderField, charset?: string): string => decoded(rawValue(field, charset))

/** The controls that say nothing to anybody, and take six bytes each in JSON: all but TAB and the ends of lines. */
const controls = /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]+/g

/** A text without any of these is clean as it stands, as most are. Half a character is none alone where its other half stands beside it. */
const mayBeUnclean = /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\ud800-\udfff]/

/** Fit for JSON and for PostgreSQL: no control characters but TAB, LF and CR, no lone surrogate. */
export const clean = (text: string): string =>
  mayBeUnclean.test(text) ? text.replace(controls, "").toWellFormed() : text

/** The same for a field of one line. */
export const oneLine = (text: string): string =>
  clean(text)
    .replace(/[\r\n]+/g, " ")
    .trim()
