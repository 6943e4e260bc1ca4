import type { Display, Effects } from "../css/Effects.ts"
import type { Clip } from "../css/Place.ts"
import type { Matched } from "../css/Selector.ts"
import * as Style from "../css/Style.ts"
import type { ElementKind } from "./ElementKind.ts"
import type { Mark } from "./Quoted.ts"

/** A row of a table that counts its cells. */
export interface Row {
  cells: number
  /** Its parent: the table or a part of it. */
  readonly table: Frame
}

/** A box that clips its content. */
export interface Clipped {
  readonly clip: Clip
  /** Index of its first line. */
  readonly line: number
  /** The number of letters written into it. */
  letters: number
  /** It contains elements with a height of their own. */
  isFilled: boolean
}

/** Lines that a reply leaves out. */
export interface Gap {
  /** False for what is around a quotation that is marked itself. */
  isCut: boolean
  /** A gap that depends on what it contains, around this one. */
  readonly around: Gap | undefined
  /** It does not depend on its content, and has no gaps inside. */
  readonly isSure: boolean
}

const noAttributes: ReadonlyArray<string> = []

/** An open element. A new one inherits from its parent, and has no attributes and no style of its own. */
export class Frame implements Matched {
  readonly name: string
  readonly kind: ElementKind
  readonly parent: Frame | undefined
  previous: Frame | undefined = undefined
  readonly index: number
  id = ""
  classes = ""
  attributes = noAttributes
  /** Its start tag, which distinguishes formatting elements. */
  tag: string
  effects: Effects | undefined = undefined
  display: Display = "inline"
  /** Its own style, and that of its content, which differs if the content is collapsed. */
  style: Style.Style
  inner: Style.Style
  /** The innermost box of known size that clips its content, with what has been written into it. */
  clipped: Clipped | undefined
  /** Its content is collapsed. */
  isClosed = false
  /** Number of the innermost block or cell. */
  element: number
  row: Row | undefined
  /** The innermost cell. */
  cell: Frame | undefined
  /** Position of the cell in its row, from 1. */
  column: number
  mark: Mark | undefined = undefined
  isQuoted: boolean
  gap: Gap | undefined
  list: { readonly isOrdered: boolean; readonly depth: number; next: number } | undefined
  readonly heading: number
  /** It has a background of its own, or a border. */
  hasBox = false
  hasPadding = false
  /** The number of visible letters, counted for cells. */
  letters = 0
  children = 0
  lastChild: Frame | undefined = undefined
  /** Whether a select's option or a details' summary has been shown. */
  hasShown = false

  constructor(kind: ElementKind, parent?: Frame) {
    this.name = kind.name
    this.kind = kind
    this.parent = parent
    this.index = parent === undefined ? 1 : ++parent.children
    this.tag = kind.name
    this.style = parent?.inner ?? Style.initial
    this.inner = this.style
    this.clipped = parent?.clipped
    this.element = parent?.element ?? 0
    this.row = parent?.row
    this.cell = parent?.cell
    this.column = parent?.column ?? 0
    this.isQuoted = parent?.isQuoted ?? false
    this.gap = parent?.gap
    this.list = parent?.list
    this.heading = kind.heading || (parent?.heading ?? 0)
  }
}

/** Maximum length of an element's classes and id. */
export const longestNames = 1_000

/** Class names and ids of an element and its two nearest ancestors. */
export const names = (frame: Frame): string => {
  let result = ""
  let at: Frame | undefined = frame
  for (let count = 0; at !== undefined && count < 3; count++) {
    result += `${at.classes.slice(0, longestNames)}${at.id.slice(0, longestNames)} `
    at = at.parent
  }
  return result.replace(/\s+/g, " ").trim().slice(0, 300).toLowerCase()
}
