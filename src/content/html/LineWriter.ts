import type { Frame } from "./Frame.ts"
import * as Invisible from "./Invisible.ts"
import { Line } from "./Line.ts"
import type { Link } from "./Link.ts"
import * as TextLooks from "./TextLooks.ts"

/** The maximum length of text in UTF-16 units, and the maximum numbers of lines and links. */
export const longestText = 256 * 1024
const mostLines = 50_000
const mostLinks = 5_000
const longestHidden = 64 * 1024

/** Writes visible text into lines, and hidden text apart. */
export class LineWriter {
  readonly lines: Array<Line> = []
  readonly links: Array<Link> = []
  hidden = ""
  hasHidden = false
  /** Some text may be hidden. */
  hasUncertain = false
  /** Text is reversed beyond its element. */
  isReversed = false
  /** The HTML was not parsed to its end, because of its depth or cost. */
  isCut = false
  /** The index of the first line of the answered mail. */
  cutFrom = Number.POSITIVE_INFINITY
  /** Characters in all lines. */
  size = 0
  #line: Line | undefined
  /** The text that is being written may be hidden. */
  #isUncertain = false
  #link: Link | undefined
  /** A space is pending before the next word. */
  #blank = false
  #gap: 0 | 1 | 2 = 1
  #marker = ""

  /** Index of the line that the next text belongs to. */
  get at(): number {
    return this.#at()
  }

  /** The length of the current line. */
  get column(): number {
    return this.#line?.text.length ?? 0
  }

  get isFull(): boolean {
    return this.size >= longestText || this.lines.length >= mostLines
  }

  /** Ends the line. The next one is in another cell, on a new line or after a blank one. */
  end(gap: 0 | 1 | 2) {
    if (this.#line !== undefined) {
      this.#line = undefined
      this.#gap = gap
    } else if (gap > this.#gap) this.#gap = gap
    this.#blank = false
  }

  /** `<br>` ends a line, or adds an empty one. */
  break() {
    if (this.#line !== undefined) this.end(1)
    else this.#gap = this.#gap === 0 ? 1 : 2
  }

  /** Sets the prefix of the next line. */
  mark(marker: string) {
    this.#marker = marker
  }

  open(link: Link) {
    this.#link = link
  }

  close(link: Link) {
    if (this.#link === link) this.#link = undefined
    if (link.line < 0 || this.links.length >= mostLinks) return
    link.text = link.text.trim()
    this.links.push(link)
  }

  /** All lines that follow are of the answered mail. */
  cut() {
    this.cutFrom = Math.min(this.cutFrom, this.lines.length)
  }

  /** Marks everything as possibly hidden. */
  doubtAll() {
    for (const line of this.lines) line.uncertain = [[0, line.text.length]]
    for (const link of this.links) link.isUncertain = true
    this.hasUncertain ||= this.lines.length > 0
  }

  /** Hidden text. */
  hide(text: string) {
    const { hidden, seen } = Invisible.without(text)
    if (!this.hasHidden && !Invisible.hasWords(seen) && hidden === "") return
    this.hasHidden = true
    if (this.hidden.length < longestHidden) this.hidden += `${seen.slice(0, longestHidden).toWellFormed()} ${hidden}`
  }

  /** Adds source text in this element. */
  write(source: string, looks: TextLooks.TextLooks, frame: Frame, isUncertain: boolean) {
    this.#isUncertain = isUncertain
    this.hasUncertain ||= isUncertain && Invisible.hasWords(source)
    const { letters, preserves } = frame.inner
    const isSuspect = TextLooks.isSuspect(looks)
    let seen = source
    if (isSuspect) {
      const without = Invisible.without(source)
      seen = without.seen
      this.isReversed ||= Invisible.isReversing(source)
      if (without.hidden !== "") this.hide(` ${without.hidden}`)
    }
    const text = letters === "upper" ? seen.toUpperCase() : letters === "lower" ? seen.toLowerCase() : seen
    // Removing hidden text may leave adjacent spaces.
    if (preserves === "nothing") return this.#flow(text, isSuspect || TextLooks.isRagged(looks), frame)
    let isFirst = true
    for (const part of text.split("\n")) {
      if (!isFirst) this.break()
      isFirst = false
      if (preserves === "lines") this.#flow(part, true, frame)
      else if (part.trim() !== "") this.#put(part.replaceAll("\u00a0", " "), frame)
      if (this.isFull) return
    }
  }

  /** Writes an image as its alt text, visible like text in its place. */
  picture(alt: string, frame: Frame) {
    const words = Invisible.without(alt).seen.replace(/\s+/g, " ").trim().slice(0, 1_000).toWellFormed()
    const link = this.#link
    const isShown = words !== "" && frame.inner.isShown
    if (link !== undefined) {
      link.hasImage = true
      if (link.line < 0) {
        link.line = this.#line === undefined && !isShown ? Math.max(0, this.lines.length - 1) : this.#at()
        link.startAt = this.#line?.text.length ?? 0
      }
      if (!link.hasText && words !== "") link.text = link.text === "" ? words : `${link.text} ${words}`
    }
    if (!isShown) return
    this.#isUncertain = frame.inner.isUncertain
    this.hasUncertain ||= this.#isUncertain
    this.#blank = true
    this.#add(`[image: ${words}]`, frame)
    this.#blank = true
  }

  /** Index of the current line. */
  #at(): number {
    return this.#line === undefined ? this.lines.length : this.lines.length - 1
  }

  #flow(text: string, isRagged: boolean, frame: Frame) {
    // Whitespace between two tags, mostly.
    if (text === "\n" || text === "\r\n") {
      this.#blank = true
      return
    }
    const words = isRagged ? text.replace(/[ \t\n\r\f\u00a0]{2,}|[\t\n\r\f\u00a0]/g, " ") : text
    const isLed = words.charCodeAt(0) === 0x20
    const isFollowed = words.charCodeAt(words.length - 1) === 0x20
    const trimmed = isLed || isFollowed ? words.trim() : words
    if (trimmed === "") {
      if (isLed) this.#blank = true
      return
    }
    if (isLed) this.#blank = true
    this.#put(trimmed, frame)
    this.#blank = isFollowed
  }

  /** Text of the page. */
  #put(text: string, frame: Frame) {
    const link = this.#link
    const isApart = this.#blank || link?.endLine !== this.#at()
    const kept = this.#add(text, frame)
    if (frame.cell !== undefined) frame.cell.letters += kept.length
    if (link === undefined) return
    // Text takes precedence over the alternative text of an image.
    link.text = !link.hasText || link.text === "" ? kept : `${link.text}${isApart ? " " : ""}${kept}`
    link.hasText = true
    link.letters += kept.length
  }

  #add(text: string, frame: Frame): string {
    let line = this.#line
    if (line === undefined) {
      line = new Line(frame, this.#gap, this.#marker)
      this.lines.push(line)
      this.#line = line
      this.#gap = 1
      this.#marker = ""
      this.#blank = false
    }
    const kept = text.length > longestText - this.size ? text.slice(0, longestText - this.size).toWellFormed() : text
    const link = this.#link
    const between = this.#blank && line.text !== "" ? " " : ""
    if (link !== undefined && link.line < 0) {
      link.line = this.lines.length - 1
      link.startAt = line.text.length + between.length
    }
    line.text += between + kept
    if (this.#isUncertain) line.doubt(line.text.length - kept.length, between.length)
    line.styled(frame)
    this.#blank = false
    this.size += kept.length + 1
    if (link !== undefined) {
      link.isUncertain ||= this.#isUncertain
      link.endLine = this.lines.length - 1
      link.endAt = line.text.length
    }
    return kept
  }
}
