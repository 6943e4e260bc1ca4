import * as SeenHtml from "../src/content/html/SeenHtml.ts"

/** The share of the words in a browser that Inlet considers visible. */
export interface SeenScore {
  readonly words: number
  readonly missing: ReadonlyArray<string>
  /**
   * Of the missing words, those removed as hidden. `innerText` of a browser contains them, but a person does not see
   * them.
   */
  readonly hidden: number
}

/** Zero-width characters do not separate words. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]|\u034f/g, "")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

const counted = (text: string) => {
  const counts = new Map<string, number>()
  for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return {
    take: (word: string): boolean => {
      const count = counts.get(word) ?? 0
      counts.set(word, count - 1)
      return count > 0
    }
  }
}

export const of = (html: string, innerText: string): SeenScore => {
  const { hiddenText, text } = SeenHtml.see(html)
  const seen = counted(text)
  const hidden = counted(hiddenText)
  const words = wordsOf(innerText)
  const missing = words.filter((word) => !seen.take(word))
  return { words: words.length, missing, hidden: missing.filter((word) => hidden.take(word)).length }
}
