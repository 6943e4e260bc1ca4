import { isUtf8 } from "node:buffer"
import * as NodeBuffer from "./NodeBuffer.ts"

/** Control characters: about a tenth of random bytes, and none of a text. */
const controls = /[\0-\x06\x0e-\x1a\x1c-\x1f\x7f]/

/** Charsets whose text contains NUL and other control characters. */
const wide = /^(?:x-)?(?:utf-?16|utf-?32|ucs|iso-?2022|iso-10646)/i

/** Whether bytes can be text in this charset. */
export const canBe = (content: Uint8Array, charset: string | undefined): boolean => {
  if (charset !== undefined && wide.test(charset)) return true
  const bytes = NodeBuffer.view(content)
  if (controls.test(bytes.toString("latin1"))) return false
  return charset === undefined || /^(?:utf-?8|us-ascii|ascii)$/i.test(charset) ? isUtf8(content) : true
}

/** Whether a line is words, not base64, whose lines have a multiple of four characters. */
export const isWords = (line: string): boolean => {
  const words = line.trim().split(/[ \t]+/)
  if (words.length < 2 || words.some((word) => word.length > 40 && !word.includes("://"))) return false
  return words.slice(0, -1).some((word) => word.length % 4 !== 0) || /[^A-Za-z\d+/=\s]/.test(line)
}
