import { HtmlWalk } from "./HtmlWalk.ts"
import type { Line } from "./Line.ts"
import type { LineWriter } from "./LineWriter.ts"
import type { Link } from "./Link.ts"
import * as SeenText from "./SeenText.ts"

/** One line as a person sees it: what stands in one block, table cell or between line breaks. */
export interface SeenLine {
  /** Visible text with collapsed white space and without invisible code points. */
  readonly text: string
  /** Number of the innermost block or cell; lines of one element share it. */
  readonly element: number
  /** Number of cells in its table row, 0 outside a table. */
  readonly cells: number
  /** In px, the largest of the line, inherited; 16 when nothing says. */
  readonly fontSize: number
  /** Letter-spacing of 2 px or 0.1 em or more. */
  readonly spaced: boolean
  /** Class names and ids of the element and its two nearest ancestors, in lower case. */
  readonly names: string
  /** Inside what a mail program marks as quoted. */
  readonly quoted: boolean
  /** Bold, or a heading. */
  readonly strong: boolean
}

/** A link that a person can see. */
export interface SeenLink {
  readonly url: string
  /** Visible text of the link, or the alt text of its image. */
  readonly text: string
  /** Index into `lines`. */
  readonly line: number
  /** Looks like one: a background colour or a border, and padding, on it or its cell. */
  readonly button: boolean
  /** Holds nothing but an image. */
  readonly image: boolean
  readonly quoted: boolean
}

/** The visible and hidden text of an HTML part. */
export interface SeenHtml {
  readonly lines: ReadonlyArray<SeenLine>
  readonly links: ReadonlyArray<SeenLink>
  /** The event's `text` where it is made from HTML. */
  readonly text: string
  /** Words were left out. */
  readonly hidden: boolean
  /** These words, bounded. */
  readonly hiddenText: string
}

/**
 * Reads HTML as a browser on a desktop shows it. The same HTML gives the same, in time that grows with its length.
 * `ofMail` is how long all HTML of the mail is.
 */
export const see = (html: string, ofMail = html.length): Seen => new Seen(new HtmlWalk(html, ofMail).run())

/** With what is made only when it is asked for. */
export class Seen implements SeenHtml {
  readonly lines: ReadonlyArray<Line>
  readonly links: ReadonlyArray<Link>
  readonly hidden: boolean
  /** The HTML was not read to its end. */
  readonly isCut: boolean
  readonly #writer: LineWriter
  #text: string | undefined

  constructor(writer: LineWriter) {
    this.lines = writer.lines
    this.links = writer.links
    this.hidden = writer.hasHidden
    this.isCut = writer.isCut
    this.#writer = writer
  }

  get text(): string {
    this.#text ??= SeenText.render(this.lines, this.links)
    return this.#text
  }

  get hiddenText(): string {
    return this.#writer.hidden.replace(/\s+/g, " ").trim()
  }
}
