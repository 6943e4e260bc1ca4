import * as LegibleText from "./LegibleText.ts"

type Decode = (encoded: Uint8Array) => { readonly content: Uint8Array; readonly isWhole: boolean }

/**
 * Where a text in base64 ends and something legible follows: mailing lists put their footers
 * there. 0 where all of it is words that are no base64 at all. Decodes no byte more than twice.
 */
export const find = (body: Uint8Array, charset: string | undefined, decode: Decode): number => {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1")
  const end = endOf(text, (from) => {
    const { content, isWhole } = decode(body.subarray(from))
    return isWhole && LegibleText.canBe(content, charset)
  })
  // Lines as long as those that programs write are base64, whatever became of it.
  if (longLine.test(text.slice(end))) return text.length
  const head = text.slice(0, end)
  if (!head.includes("=") && !longLine.test(head)) {
    const { content, isWhole } = decode(body.subarray(0, end))
    const isBase64 = (isWhole || content.length >= fewByChance) && LegibleText.canBe(content, charset)
    if (words.test(head) && !isBase64) return 0
  }
  return end
}

const longLine = /^[A-Za-z\d+/]{60,76}[ \t\r]*$/m

const endOf = (text: string, isMore: (from: number) => boolean): number => {
  let isBehindPadding = false
  let start = 0
  while (start < text.length) {
    const feed = text.indexOf("\n", start)
    const next = feed === -1 ? text.length : feed + 1
    const line = text.slice(start, next)
    const bare = line.trim()
    if (bare !== "") {
      if (LegibleText.isWords(line) || (/[^A-Za-z\d+/=\s]/.test(line) && /^[-_*=]{2}/.test(line))) return start
      // Several padded pieces may stand in a row.
      if (isBehindPadding) return isMore(start) ? text.length : start
      isBehindPadding = bare.endsWith("=")
    }
    start = next
  }
  return text.length
}

/** Words are decoded to so many bytes of text by chance alone, although their signs have to be left out, but hardly ever. */
const fewByChance = 12

/** Whether short lines are words of a person: letters, and what ends a sentence. */
const words = /^(?=.*[A-Za-z]{2})[A-Za-z' \t\r\n.,;:!?-]+$/s
