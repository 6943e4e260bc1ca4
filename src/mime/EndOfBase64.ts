import * as LegibleText from "./LegibleText.ts"
import * as NodeBuffer from "./NodeBuffer.ts"

type Decode = (encoded: Uint8Array) => { readonly content: Uint8Array; readonly isWhole: boolean }

/**
 * Finds the end of a base64 text that legible text follows, such as a mailing list's footer. 0 if the whole text is
 * plain words. Decodes no byte more than twice.
 */
export const find = (body: Uint8Array, charset: string | undefined, decode: Decode): number => {
  const text = NodeBuffer.view(body).toString("latin1")
  const end = endOf(text, (from) => {
    const { content, isWhole } = decode(body.subarray(from))
    return isWhole && LegibleText.canBe(content, charset)
  })
  // Lines of the usual length are base64, even if damaged.
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
      // Several padded pieces may follow each other.
      if (isBehindPadding) return isMore(start) ? text.length : start
      isBehindPadding = bare.endsWith("=")
    }
    start = next
  }
  return text.length
}

/** The minimum length at which plain words hardly ever decode to text by chance. */
const fewByChance = 12

/** Whether short lines are words: letters and sentence punctuation. */
const words = /^(?=.*[A-Za-z]{2})[A-Za-z' \t\r\n.,;:!?-]+$/s
