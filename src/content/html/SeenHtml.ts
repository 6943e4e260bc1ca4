import { HtmlWalk } from "./HtmlWalk.ts"
import type { Line } from "./Line.ts"
import type { LineWriter } from "./LineWriter.ts"
import type { Link } from "./Link.ts"
import * as SeenText from "./SeenText.ts"

/** One visible line: the text of one block or table cell, or between line breaks. */
export interface SeenLine {
  /** Visible text with collapsed white space and without invisible code points. */
  readonly text: string
  /** Number of the innermost block or cell, shared by the lines of one element. */
  readonly element: number
  /** Number of cells in its table row, 0 outside a table. */
  readonly cells: number
  /** In px, the largest font size of the line, 16 by default. */
  readonly fontSize: number
  /** Letter-spacing of 2 px or 0.1 em or more. */
  readonly spaced: boolean
  /** Class names and ids of the element and its two nearest ancestors, in lower case. */
  readonly names: string
  /** In an element that a mail program marks as quoted. */
  readonly quoted: boolean
  /** Bold, or a heading. */
  readonly strong: boolean
  /** Start and end of each part of the text that may be hidden. */
  readonly uncertain?: ReadonlyArray<readonly [from: number, to: number]> | undefined
}

/** A visible link. */
export interface SeenLink {
  readonly url: string
  /** Visible text of the link, or the alt text of its image. */
  readonly text: string
  /** Index into `lines`. */
  readonly line: number
  /** Styled as a button: a background color or border, and padding, on it or its cell. */
  readonly button: boolean
  /** Contains only an image. */
  readonly image: boolean
  readonly quoted: boolean
  /** Its text may be hidden. */
  readonly isUncertain?: boolean
}

/** The visible and hidden text of an HTML part, with values computed on demand. */
export class SeenHtml {
  readonly lines: ReadonlyArray<Line>
  readonly links: ReadonlyArray<Link>
  /** Whether words were left out. */
  readonly hidden: boolean
  /** Whether the text has words that may be hidden. */
  readonly uncertain: boolean
  /** The HTML was not parsed to its end. */
  readonly isCut: boolean
  readonly #writer: LineWriter
  #text: string | undefined

  constructor(writer: LineWriter) {
    this.lines = writer.lines
    this.links = writer.links
    this.hidden = writer.hasHidden
    this.uncertain = writer.hasUncertain
    this.isCut = writer.isCut
    this.#writer = writer
  }

  /** The event's `text` if it is made from HTML. */
  get text(): string {
    this.#text ??= SeenText.render(this.lines, this.links)
    return this.#text
  }

  /** The same with the parts that may be hidden in marks. */
  get markedText(): string {
    return SeenText.render(this.lines, this.links, { marks: true })
  }

  /** Whether mail programs mark a quotation or a signature in it. */
  get hasGaps(): boolean {
    return this.#writer.cutFrom < this.lines.length || this.lines.some(({ isCut }) => isCut)
  }

  /** The text with a marker line in place of each of them, and with marks if words may be hidden. */
  get ownText(): string {
    return SeenText.render(this.lines, this.links, { marks: this.uncertain, cutFrom: this.#writer.cutFrom })
  }

  /** The hidden words, limited. */
  get hiddenText(): string {
    return this.#writer.hidden.replace(/\s+/g, " ").trim()
  }
}

/**
 * Interprets HTML as a desktop browser does, in time linear in its length. Equal HTML gives equal results. `ofMail`
 * is the length of all HTML of the mail.
 */
export const see = (html: string, ofMail = html.length): SeenHtml => new SeenHtml(new HtmlWalk(html, ofMail).run())
