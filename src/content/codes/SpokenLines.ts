import type { SeenLine, SeenLink } from "../html/SeenHtml.ts"
import * as WordSearch from "./WordSearch.ts"

/** Lines with the words found in them. Each line is searched once, on demand. */
export interface SpokenLines {
  readonly lines: ReadonlyArray<SeenLine>
  readonly folded: (index: number) => string
  /** Of a long line only its start. */
  readonly hits: (index: number) => ReadonlyArray<WordSearch.Hit>
}

/** Lines of a part of a mail with their links. */
export interface Source {
  readonly name: "subject" | "text" | "html"
  readonly spoken: SpokenLines
  readonly links: ReadonlyArray<SeenLink>
}

/** The length up to which a line is searched completely. */
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

/** A single line. */
export const alone = (text: string): SpokenLines => of([{ ...empty, text }])
