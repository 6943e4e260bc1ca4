import type { SeenHtml } from "./SeenHtml.ts"
import * as Units from "./Units.ts"
import { WordSet } from "./WordSet.ts"

/** The plain text of a mail compared with the HTML that a mail program shows instead. */
export interface TextMatch {
  /** Both are the same mail, apart from a footer and the like. */
  readonly matches: boolean
  /** The HTML shows all words of the plain text. */
  readonly isComplete: boolean
  /** Both have the same characters, but for the width of their spaces. */
  readonly isSame: boolean
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

const isSpace = (unit: number): boolean => unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) || unit === 0xa0

/** The zero behind the text is no space. */
const afterSpace = (units: Uint16Array, from: number): number => {
  let at = from
  while (isSpace(units[at] ?? 0)) at++
  return at
}

/** Whether both texts are the same but for the width of their spaces, as in most mail with two parts. */
const isSame = (plain: string, seen: string): boolean => {
  if (Math.max(plain.length, seen.length) > longest) return false
  const said = Units.copy(plain)
  const shown = Units.of(seen)
  let at = 0
  let other = 0
  for (;;) {
    while (at < plain.length && other < seen.length && said[at] === shown[other]) {
      at++
      other++
    }
    const [next, otherNext] = [afterSpace(said, at), afterSpace(shown, other)]
    if (next === plain.length && otherNext === seen.length) return true
    const isInGap = at === 0 || isSpace(said[at - 1] ?? 0)
    // A word goes on in one of the texts alone.
    if (isInGap ? next === at && otherNext === other : next === at || otherNext === other) return false
    at = next
    other = otherNext
  }
}

/** Compares by words, without URLs. `seen` is the text of the HTML. */
export const of = (plain: string, seen: string): TextMatch => {
  // A tenth of the cost of the words.
  if (isSame(plain, seen)) return { matches: true, isComplete: true, isSame: true }
  const [said, shown] = [new WordSet(plain), new WordSet(seen)]
  const missing = said.missingIn(shown)
  const omitted = shown.size - (said.size - missing)
  return {
    matches: share(missing, said.size) <= mostMissing && share(omitted, shown.size) <= mostOmitted,
    isComplete: missing === 0,
    isSame: false
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
