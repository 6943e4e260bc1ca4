import type { Frame } from "./Frame.ts"
import * as Frames from "./Frame.ts"

const named = (names: string) => names.slice(0, Frames.longestNames).trim().toLowerCase()

/** A line, during and after writing. Rarely used values are computed on demand. */
export class Line {
  text = ""
  /** Line breaks before it: 0 for a cell in the same row, 2 for a blank line. */
  readonly gap: 0 | 1 | 2
  /** The list marker before it. */
  readonly marker: string
  fontSize = 0
  spaced = false
  strong = true
  /** Whitespace and line breaks are kept. */
  readonly isPreserved: boolean
  readonly quoted: boolean
  /** Start and end of each part that may be hidden. */
  uncertain: Array<readonly [from: number, to: number]> | undefined
  readonly #first: Frame
  #last: Frame

  constructor(frame: Frame, gap: 0 | 1 | 2, marker: string) {
    this.#first = frame
    this.#last = frame
    this.quoted = frame.isQuoted
    this.gap = gap
    this.marker = marker
    this.isPreserved = frame.style.preserves === "all"
  }

  get element(): number {
    return this.#first.element
  }

  get cells(): number {
    return this.#first.row?.cells ?? 0
  }

  get names(): string {
    const first = Frames.names(this.#first)
    return this.#last === this.#first ? first : `${first} ${named(this.#last.classes)} ${named(this.#last.id)}`.trim()
  }

  /** 1 to 6 in a heading, else 0. */
  get heading(): number {
    return this.#first.heading
  }

  /** Number of enclosing lists. */
  get listDepth(): number {
    return this.#first.list?.depth ?? 0
  }

  /** A mail program marks it as a quotation or signature. */
  get isCut(): boolean {
    return this.#first.gap?.isCut === true && this.#last.gap?.isCut === true
  }

  /** The innermost element of the first text. */
  get frame(): Frame {
    return this.#first
  }

  /** Its text from `from` on may be hidden. A part that follows another after `blanks` belongs to it. */
  doubt(from: number, blanks: number) {
    this.uncertain ??= []
    const last = this.uncertain.at(-1)
    if (last === undefined || last[1] + blanks < from) this.uncertain.push([from, this.text.length])
    else this.uncertain[this.uncertain.length - 1] = [last[0], this.text.length]
  }

  /** It contains text of this element. */
  styled(frame: Frame) {
    const { fontSize, isBold, scale, spacing } = frame.inner
    this.#last = frame
    this.fontSize = Math.max(this.fontSize, fontSize * scale)
    this.spaced ||= spacing >= 2 || (spacing > 0 && spacing >= fontSize / 10)
    this.strong &&= isBold || frame.heading > 0
  }
}
