import type { SeenHtml } from "./SeenHtml.ts"
import { WordSet } from "./WordSet.ts"

/** The plain text of a mail compared with the HTML that a mail program shows instead. */
export interface TextMatch {
  /** Both are the same mail, apart from a footer and the like. */
  readonly matches: boolean
  /** The HTML shows all words of the plain text. */
  readonly isComplete: boolean
}

/** Maximum compared text in UTF-16 units, as in a `WordSet`. */
const longest = 64 * 1024

/** Shares of words that may be missing in the HTML and in the plain text. */
const mostMissing = 0.2
const mostOmitted = 0.5

/** The text of visible lines, without parts that may be hidden. */
export const certainText = (html: ReadonlyArray<SeenHtml>): string => {
  let text = ""
  for (const { lines } of html) {
    for (const { text: line, uncertain } of lines) {
      if (text.length > longest) return text
      text += `${uncertain === undefined ? line : without(line, uncertain)}\n`
    }
  }
  return text
}

const without = (line: string, parts: ReadonlyArray<readonly [number, number]>): string => {
  let left = ""
  let at = 0
  for (const [from, to] of parts) {
    left += `${line.slice(at, from)} `
    at = to
  }
  return left + line.slice(at)
}

const share = (missing: number, size: number): number => (size === 0 ? 0 : missing / size)

/** Compares by words, without URLs. `seen` is the text of the HTML. */
export const of = (plain: string, seen: string): TextMatch => {
  const [said, shown] = [new WordSet(plain), new WordSet(seen)]
  const missing = said.missingIn(shown)
  const omitted = shown.size - (said.size - missing)
  return {
    matches: share(missing, said.size) <= mostMissing && share(omitted, shown.size) <= mostOmitted,
    isComplete: missing === 0
  }
}

/** The lines of a plain text with words that the HTML does not show. */
export const onlyIn = (plain: string, seen: string): string => {
  const shown = new WordSet(seen)
  return plain
    .slice(0, longest)
    .split("\n")
    .filter((line) => new WordSet(line).missingIn(shown) > 0)
    .join("\n")
    .trim()
}
