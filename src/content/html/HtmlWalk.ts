import { Budget } from "../css/Budget.ts"
import type { Effects } from "../css/Effects.ts"
import * as Length from "../css/Length.ts"
import * as Style from "../css/Style.ts"
import { Cascade, none } from "./Cascade.ts"
import * as Clipping from "./Clipping.ts"
import { Drawing } from "./Drawing.ts"
import * as ElementKind from "./ElementKind.ts"
import * as Fields from "./Fields.ts"
import { Frame } from "./Frame.ts"
import { FrameMaker } from "./FrameMaker.ts"
import { Gaps } from "./Gaps.ts"
import { HtmlTokens } from "./HtmlTokens.ts"
import { LineWriter } from "./LineWriter.ts"
import { Link } from "./Link.ts"
import { OpenElements } from "./OpenElements.ts"
import * as StyleElements from "./StyleElements.ts"
import * as TextLooks from "./TextLooks.ts"

/** A smaller image counts as none. */
const leastImage = 16

const longestUrl = 8_192

/** Most texts start with a letter and need no scan. */
const isBlank = (text: string) => !isGraphic(text.charCodeAt(0)) && text.trim() === ""

const isGraphic = (unit: number) => unit > 0x20 && unit < 0x7f

/** What a text opens before the body. */
const noElement = ElementKind.of("")

/** An empty tag. */
const bare = { attribute: () => undefined, attributes: () => [], hasAttributes: () => false }

/** Walks HTML once from start to end, with the open elements and without a tree. */
export class HtmlWalk {
  readonly writer = new LineWriter()
  readonly #tokens: HtmlTokens
  readonly #budget: Budget
  readonly #frames: FrameMaker
  readonly #open: OpenElements
  readonly #drawing = new Drawing()
  readonly #gaps: Gaps
  #hasBody = false
  /** Any text may be hidden, by other colors of the page or by frames in its place. */
  #isDoubtful = false
  /** The open links. */
  readonly #links = new Map<Frame, Link>()

  /** `ofMail` is the length of all HTML of the mail. */
  constructor(html: string, ofMail = html.length) {
    this.#budget = new Budget(html.length, ofMail)
    this.#tokens = new HtmlTokens(html)
    this.#gaps = new Gaps(this.writer, html.length)
    const isQuirky = !/<!doctype\s+html/i.test(html.slice(0, 2_000))
    this.#frames = new FrameMaker(new Cascade(StyleElements.read(html), isQuirky, this.#budget), this.#budget)
    this.#open = new OpenElements({
      root: new Frame(noElement),
      closed: (frame) => this.#closed(frame),
      restyle: (frame, parent) => this.#again(frame, parent),
      isQuirky,
      budget: this.#budget
    })
  }

  run(): LineWriter {
    const tokens = this.#tokens
    for (let token = tokens.next(); token !== "end"; token = tokens.next()) {
      if (this.#isOver) break
      if (token === "text") this.#text()
      else if (token === "close") this.#close(tokens.name)
      else this.#start(ElementKind.of(tokens.name))
      if (this.writer.isFull) break
    }
    // Beyond this depth the rest is left out.
    if (this.#isOver) {
      this.writer.hasHidden = true
      this.writer.isCut = true
    }
    while (this.#open.stack.length > 1) this.#open.endTop()
    const { isCut, overlaps } = this.#frames
    if (isCut || overlaps.isPossible || this.#isDoubtful || this.#drawing.showsText || this.writer.isReversed)
      this.writer.doubtAll()
    return this.writer
  }

  get #isOver(): boolean {
    return this.#open.isTooDeep || this.#budget.isSpent
  }

  #text() {
    const { rawOf, text } = this.#tokens
    if (rawOf !== "" && ElementKind.of(rawOf).isSilent) return
    if (this.#drawing.isOpen) {
      if (this.#open.top.inner.isShown) this.#drawing.write(text)
      return
    }
    const { writer } = this
    let frame = this.#open.top
    const blank = isBlank(text)
    if (!blank) {
      if (!this.#hasBody) this.#begins(noElement)
      this.#goOn()
      if (this.#budget.isSpent) return
      frame = this.#open.top
      if (frame.kind.isFramework) frame = this.#beforeTable(frame)
    }
    if (!frame.inner.isShown) {
      if (!blank) writer.hide(text)
      return
    }
    if (!blank && Style.isThin(frame.inner)) this.#frames.overlaps.tighten(writer.at)
    const doubt = blank ? "none" : Clipping.doubt(frame, text, writer.at, writer.column)
    if (doubt === "hidden") writer.hide(text)
    else writer.write(text, this.#tokens.looks, frame, doubt === "uncertain")
  }

  /** Where a browser puts content that is in a table but not in a cell. */
  #beforeTable(frame: Frame): Frame {
    let at = frame
    while (at.name !== "table" && at.parent !== undefined) {
      at = at.parent
      this.#budget.steps--
    }
    return at.parent ?? at
  }

  #close(name: string) {
    if (this.#drawing.isOpen) return this.#drawing.close(name)
    if (name === "body" || name === "html") return
    if (name === "br") return this.writer.break()
    const isClosed = this.#open.close(ElementKind.of(name))
    if (name === "p" && !isClosed) this.writer.end(2)
  }

  #start(kind: ElementKind.ElementKind) {
    const tokens = this.#tokens
    const { name } = kind
    const open = this.#open
    const drawing = this.#drawing
    if (drawing.isOpen) {
      if (drawing.isIsland || !kind.endsDrawing) {
        tokens.readMarkup()
        if (!tokens.isSelfClosing) drawing.add(name)
        return
      }
      drawing.end()
    }
    if (name === "svg") return drawing.begin(tokens.isSelfClosing)
    if (kind.isSilent) return
    this.#isDoubtful ||= name === "frameset" || (name === "meta" && Fields.isDark(tokens))
    const isSecond = this.#hasBody
    if (!isSecond) this.#begins(kind)
    if (name === "head" ? isSecond || open.top.name === "head" : this.#isRepeated(name, isSecond)) return
    open.before(kind)
    const isInTable = kind.isPartOfTable && (open.top.kind.isFramework || kind.isFramework || kind.isCellOrCaption)
    if (open.again.length > 0 && !kind.endsParagraph && !isInTable && name !== "table") this.#goOn()
    const top = open.top
    const parent = top.kind.isFramework && !kind.isPartOfTable ? this.#beforeTable(top) : top
    const frame = this.#frames.make(parent, kind, tokens, this.writer.at)
    // Rules that hide it may not be evaluated.
    if (this.#budget.isSpent) return
    if (kind.isVoid) return this.#void(frame)
    open.push(frame)
    this.#begin(frame)
  }

  /** A second body adds its attributes to the first, here from its position on. */
  #isRepeated(name: string, isSecond: boolean): boolean {
    if (name !== "html" && name !== "body") return false
    return (isSecond || (name === "html" && this.#open.stack.length > 1)) && !this.#tokens.hasAttributes()
  }

  /** Before the body: opens the elements that a tag implies. */
  #begins({ isForHead, name }: ElementKind.ElementKind) {
    const open = this.#open
    if (open.stack.length === 1 && name !== "html") this.#imply("html")
    if (isForHead) return
    if (open.top.name === "head") open.close(open.top.kind)
    this.#hasBody = true
    if (name !== "body") this.#imply("body")
  }

  #imply(name: string) {
    this.#open.push(this.#frames.make(this.#open.top, ElementKind.of(name), bare, this.writer.at))
  }

  #begin(frame: Frame) {
    const { name, parent } = frame
    // A declarative shadow root in a template is shown instead of the element's content.
    if (name === "template" && parent !== undefined && this.#tokens.attribute("shadowrootmode") !== undefined) {
      parent.inner = Style.gone(parent.inner)
    }
    this.#breakLine(frame)
    this.#gaps.begin(frame, this.#tokens)
    if (name === "li" && frame.list !== undefined) {
      this.writer.mark(frame.list.isOrdered ? `${frame.list.next++}. ` : "- ")
    }
    if (name !== "a") return
    const url = this.#url()
    if (url === undefined) return
    const link = new Link(url, frame)
    this.#links.set(frame, link)
    this.writer.open(link)
  }

  #url(): string | undefined {
    const href = this.#tokens
      .attribute("href")
      ?.replace(/[\t\n\r]+/g, "")
      .trim()
    if (href === undefined || href.length > longestUrl) return undefined
    return /^(?!javascript:|vbscript:|data:|cid:|file:)[a-z][a-z0-9+.-]*:./i.test(href) ? href : undefined
  }

  #breakLine({ display, kind, style }: Frame) {
    if (style.isGone || display === "inline" || display === "none") return
    if (display === "cell") this.writer.end(0)
    else this.writer.end(kind.isParagraph ? 2 : 1)
  }

  #closed(frame: Frame) {
    const { name } = frame
    const link = this.#links.get(frame)
    if (link !== undefined) {
      this.#links.delete(frame)
      this.writer.close(link)
    }
    this.#breakLine(frame)
    if (name === "li") this.writer.mark("")
    if (frame.mark === "head") {
      const { parent } = frame
      if (parent !== undefined) parent.isQuoted = true
      if (parent?.name === "div" && parent.children === 1 && parent.parent !== undefined) parent.parent.isQuoted = true
    }
  }

  #void(frame: Frame) {
    const { writer } = this
    const tokens = this.#tokens
    if (frame.name === "br") {
      if (!frame.style.isGone) writer.break()
      if (frame.parent !== undefined) frame.parent.inner = Style.unindented(frame.parent.inner)
    } else if (frame.name === "input") this.#input(frame)
    else if (frame.name === "hr") writer.end(1)
    else if (frame.name === "img" || frame.name === "image") {
      const alt = tokens.attribute("alt") ?? ""
      if (frame.style.showsImages && !this.#isTiny(frame.effects ?? none)) writer.picture(alt, frame)
      else if (alt !== "") writer.hide(alt)
    }
  }

  /** A person sees the value of a field or button. */
  #input(frame: Frame) {
    const value = Fields.valueOf(this.#tokens)
    if (value === "") return
    const { inner } = frame
    if (inner.isShown) this.writer.write(value, TextLooks.of(value), frame, inner.isUncertain)
    else this.writer.hide(value)
  }

  #isTiny(effects: Effects): boolean {
    const sides = [
      effects.width ?? Fields.sizeOf(this.#tokens.attribute("width")),
      effects.height ?? Fields.sizeOf(this.#tokens.attribute("height")),
      effects.maxWidth,
      effects.maxHeight
    ]
    return sides.some((side) => side !== undefined && side.percent === 0 && Length.resolve(side, 16, 0) < leastImage)
  }

  /** The same element in another parent. A link continues in it. */
  #again(frame: Frame, parent: Frame): Frame {
    const next = this.#frames.again(frame, parent)
    const link = this.#links.get(frame)
    if (link !== undefined) {
      this.#links.delete(frame)
      this.#links.set(next, link)
    }
    return next
  }

  /** Reopens formatting elements that were closed with their block. */
  #goOn() {
    const open = this.#open
    if (open.again.length === 0) return
    const frames = open.again
    open.again = []
    for (const frame of frames) {
      const next = this.#again(frame, open.top)
      open.push(next)
    }
  }
}
