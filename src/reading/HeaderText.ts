import { isUtf8 } from "node:buffer"
import libmime from "libmime"
import type { HeaderField } from "../model/HeaderBlock.ts"

const windows1252 = new TextDecoder("windows-1252")

/** Bytes that name no charset: UTF-8 where they are valid UTF-8 (RFC 6532), else the usual truth. */
const decodeBytes = (bytes: Uint8Array): string =>
  isUtf8(bytes) ? Buffer.from(bytes).toString("utf8") : windows1252.decode(bytes)

/** Bytes of a header in UTF-8, whatever they were in. */
export const toUtf8 = (bytes: Uint8Array): Uint8Array => (isUtf8(bytes) ? bytes : Buffer.from(decodeBytes(bytes)))

/** The unfolded value of a field as it stands, encoded words and all. */
export const rawValue = (field: HeaderField): string => decodeBytes(field.value).replace(/\r?\n/g, "").trim()

/** The value as a person reads it: unfolded, encoded words decoded (RFC 2047), one line. */
export const value = (field: HeaderField): string => oneLine(libmime.decodeWords(rawValue(field)))

/** Fit for JSON and for PostgreSQL: no NUL, no lone surrogate. */
export const clean = (text: string): string => text.replaceAll("\0", "").toWellFormed()

/** The same for a field of one line. */
export const oneLine = (text: string): string =>
  clean(text)
    .replace(/[\r\n]+/g, " ")
    .trim()
