import type { SeenLine } from "../html/SeenHtml.ts"
import * as WordSearch from "./WordSearch.ts"

/** Lines, and the words of the lists in them: each line is read when it is asked for, and once. */
export interface SpokenLines {
  readonly lines: ReadonlyArray<SeenLine>
  readonly folded: (index: number) => string
  /** For a long line only its beginning. */
  readonly hits: (index: number) => ReadonlyArray<WordSearch.Hit>
}

/** Units of a line whose words are read as a whole. */
export const longest = 600

export const of = (lines: ReadonlyArray<SeenLine>): SpokenLines => {
  const texts: Array<string | undefined> = []
  const found: Array<ReadonlyArray<WordSearch.Hit> | undefined> = []
  const folded = (index: number): string => {
    const known = texts[index]
    if (known !== undefined) return known
    const text = WordSearch.fold((lines[index]?.text ?? "").slice(0, longest * 2))
    texts[index] = text
    return text
  }
  return {
    lines,
    folded,
    hits: (index) => {
      const known = found[index]
      if (known !== undefined) return known
      const hits = WordSearch.phrases(folded(index).slice(0, longest))
      found[index] = hits
      return hits
    }
  }
}

export const empty: SeenLine = {
  text: "",
  element: 0,
  cells: 0,
  fontSize: 16,
  spaced: false,
  names: "",
  quoted: false,
  strong: false
}

/** One line by itself. */
export const alone = (text: string): SpokenLines => of([{ ...empty, text }])
