import { isAscii } from "node:buffer"
import * as Charset from "./Charset.ts"
import * as EncodedWords from "./EncodedWords.ts"
import type { HeaderField } from "./HeaderBlock.ts"
import * as LineEnds from "./LineEnds.ts"
import * as NodeBuffer from "./NodeBuffer.ts"

/** The unfolded value of a field with its encoded words. `charset` is a guess for raw bytes beyond ASCII. */
export const rawValue = (field: HeaderField, charset?: string): string => {
  const latin1 = NodeBuffer.view(field.value).toString("latin1")
  // Most values need no detection. An escape may switch the charset.
  if (isAscii(field.value) && !latin1.includes("\x1b")) return LineEnds.unfolded(latin1).trim()
  return LineEnds.unfolded(Charset.guess(Buffer.from(EncodedWords.escapeRaw(latin1), "latin1"), charset)).trim()
}

/** Decodes encoded words to one line of text. */
export const decoded = (text: string): string => oneLine(EncodedWords.decode(text))

/** The decoded value: unfolded, encoded words decoded (RFC 2047), in one line. */
export const value = (field: HeaderField, charset?: string): string => decoded(rawValue(field, charset))

/** Control characters, which are useless and take six bytes each in JSON, except TAB and line ends. */
const controls = /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]+/g

/** A text without any of these needs no cleaning. A surrogate is lone only without its other half beside it. */
const mayBeUnclean = /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\ud800-\udfff]/

/** Sanitizes text for JSON and PostgreSQL: no control characters except TAB, LF and CR, and no lone surrogate. */
export const clean = (text: string): string =>
  mayBeUnclean.test(text) ? text.replace(controls, "").toWellFormed() : text

/** The same for a field of one line. */
export const oneLine = (text: string): string =>
  clean(text)
    .replace(/[\r\n]+/g, " ")
    .trim()
