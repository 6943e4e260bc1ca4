import type { Budget } from "../css/Budget.ts"
import * as Color from "../css/Color.ts"
import { type Effects, paints } from "../css/Effects.ts"
import * as Style from "../css/Style.ts"
import { type Cascade, none as noEffects } from "./Cascade.ts"
import * as Clipping from "./Clipping.ts"
import type * as ElementKind from "./ElementKind.ts"
import { Frame } from "./Frame.ts"
import type { Tag } from "./HtmlTokens.ts"
import { Overlaps } from "./Overlaps.ts"
import * as Quoted from "./Quoted.ts"

const hasBox = ({ background, gradient, hasBorder }: Effects): boolean =>
  hasBorder === true || gradient !== undefined || (typeof background === "number" && Color.alphaOf(background) > 0)

/** The cells of a column follow it. */
const doubtColumn = ({ parent }: Frame, effects: Effects) => {
  const table = parent?.name === "colgroup" ? parent.parent : parent
  if ((effects.visible === false || paints(effects)) && table !== undefined) table.inner = Style.uncertain(table.inner)
}

/** What an element inherits. */
const outerOf = (parent: Frame, name: string): Style.Style => {
  if (name === "summary" && parent.name === "details" && !parent.hasShown) return parent.style
  // A caption is beside the box of its table.
  if (name === "caption" && parent.parent !== undefined) return Style.inFrontOf(parent.inner, parent.parent.inner)
  return parent.inner
}

const classesOf = (value: string | undefined, foldsCase: boolean): string => {
  if (value === undefined || value === "") return ""
  const classes = /\s/.test(value) ? value.replace(/\s+/g, " ").trim() : value
  return ` ${foldsCase ? classes.toLowerCase() : classes} `
}

const idOf = (value: string | undefined, foldsCase: boolean): string =>
  value === undefined ? "" : foldsCase ? value.toLowerCase() : value

/**
 * The cost of moving an element to another parent, and of computing a style for it there. The first styles are free,
 * because a short text has few steps.
 */
const stepsOfACopy = 20
const stepsOfAStyle = 100
const freeStyles = 16

/** The length of a formatting start tag that distinguishes elements. */
const longestTag = 1_000

/** Creates an element with its style from a start tag. */
export class FrameMaker {
  readonly overlaps = new Overlaps()
  /** Some rules of style sheets were not read. */
  readonly isCut: boolean
  readonly #cascade: Cascade
  readonly #budget: Budget
  #elements = 0
  #computed = 0
  /** Styles by parent and declarations, because siblings share theirs. */
  readonly #styles = new Map<Style.Style, Map<Effects, Style.Style>>()

  constructor(cascade: Cascade, budget: Budget) {
    this.#cascade = cascade
    this.#budget = budget
    this.isCut = cascade.rules.isCut
  }

  /** The same element in another parent. */
  again(frame: Frame, parent: Frame): Frame {
    this.#budget.steps -= stepsOfACopy
    const computed = Math.max(this.#computed, freeStyles)
    const style = this.#style(parent, frame.effects, frame.name)
    if (this.#computed > computed) this.#budget.steps -= stepsOfAStyle
    return {
      ...frame,
      parent,
      style,
      inner: frame.isClosed ? Style.gone(style) : style,
      element: frame.display === "inline" ? parent.element : frame.element,
      isQuoted: parent.isQuoted || frame.isQuoted,
      gap: parent.gap
    }
  }

  #style(parent: Frame, effects: Effects | undefined, name: string): Style.Style {
    const outer = outerOf(parent, name)
    if (effects === undefined) return outer
    const known = this.#styles.get(outer)
    const found = known?.get(effects)
    if (found !== undefined) return found
    this.#computed++
    const style = Style.inside(outer, effects)
    if (known === undefined) this.#styles.set(outer, new Map([[effects, style]]))
    else known.set(effects, style)
    return style
  }

  /** `line` is the index of the line where its text begins. */
  make(parent: Frame, kind: ElementKind.ElementKind, tokens: Tag, line: number): Frame {
    const { name } = kind
    const { rules } = this.#cascade
    const frame = new Frame(kind, parent)
    const styleText = tokens.attribute("style") ?? ""
    if (tokens.hasAttributes()) {
      frame.classes = classesOf(tokens.attribute("class"), rules.foldsCase)
      frame.id = idOf(tokens.attribute("id"), rules.foldsCase)
      if (rules.needsAttributes) frame.attributes = tokens.attributes()
    }
    const names = `${frame.classes}${frame.id}`.toLowerCase()
    if (kind.isFormatting) frame.tag = `${name} ${names} ${styleText}`.slice(0, longestTag)
    frame.mark = Quoted.markOf(names, styleText)
    frame.isQuoted ||= name === "blockquote" || (frame.mark !== undefined && frame.mark !== "signature")
    if (rules.needsSiblings) {
      frame.previous = parent.lastChild
      parent.lastChild = frame
    }
    if (name === "tr") frame.row = { cells: 0, table: parent }
    else if (name === "td" || name === "th") {
      frame.cell = frame
      frame.column = frame.row === undefined ? 1 : ++frame.row.cells
    } else if (name === "table") {
      frame.row = undefined
      frame.cell = undefined
    } else if (name === "ul" || name === "ol") {
      const start = Number.parseInt(tokens.attribute("start") ?? "", 10) || 1
      frame.list = { isOrdered: name === "ol", depth: (parent.list?.depth ?? 0) + 1, next: start }
    }
    this.#dress(frame, parent, tokens, line)
    return frame
  }

  /** Notes where it lies, and what its box clips. */
  #place(frame: Frame, parent: Frame, effects: Effects, line: number, isStyled: boolean) {
    const { clip, isUnwrapped } = frame.style
    if (frame.name === "col" || frame.name === "colgroup") doubtColumn(frame, effects)
    this.overlaps.add(frame, parent.inner, effects, line)
    if (parent.clipped !== undefined) Clipping.fill(parent.clipped, frame.kind, isStyled)
    if (clip !== parent.inner.clip) frame.clipped = Clipping.open(clip, isUnwrapped, line, parent.clipped, effects)
  }

  /** Computes the style of an element. */
  #dress(frame: Frame, parent: Frame, tokens: Tag, line: number) {
    const { name } = frame
    const effects = this.#cascade.effects(tokens, frame)
    const style = this.#style(parent, effects, name)
    frame.effects = effects
    frame.display = effects.display ?? "inline"
    frame.style = style
    // A closed `details` shows its summary, a `select` its first option.
    frame.isClosed = name === "details" ? tokens.attribute("open") === undefined : name === "option" && parent.hasShown
    frame.inner = frame.isClosed ? Style.gone(style) : style
    if (name === "summary" || name === "option") parent.hasShown = true
    if (frame.display !== "inline" && frame.display !== "none") {
      frame.element = ++this.#elements
      parent.inner = Style.unindented(parent.inner)
    }
    if (effects !== noEffects || frame.clipped !== undefined)
      this.#place(frame, parent, effects, line, tokens.hasAttributes())
    frame.hasBox = hasBox(effects)
    frame.hasPadding = effects.hasPadding === true
  }
}
