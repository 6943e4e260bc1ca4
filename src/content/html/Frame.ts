import type { Display, Effects } from "../css/Effects.ts"
import type { Clip } from "../css/Place.ts"
import type { Matched } from "../css/Selector.ts"
import type { Style } from "../css/Style.ts"
import type { ElementKind } from "./ElementKind.ts"

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

/** An open element. */
export interface Frame extends Matched {
  readonly kind: ElementKind
  readonly parent: Frame | undefined
  readonly previous: Frame | undefined
  /** Its start tag, which distinguishes formatting elements. */
  readonly tag: string
  effects: Effects | undefined
  display: Display
  /** Its own style, and that of its content, which differs if the content is collapsed. */
  style: Style
  inner: Style
  /** The innermost box of known size that clips its content, with what has been written into it. */
  clipped: Clipped | undefined
  /** Its content is collapsed. */
  isClosed: boolean
  /** Number of the innermost block or cell. */
  element: number
  readonly row: Row | undefined
  /** The innermost cell. */
  cell: Frame | undefined
  /** Position of the cell in its row, from 1. */
  readonly column: number
  isQuoted: boolean
  /** Its following siblings are quoted. */
  readonly quotesTheRest: boolean
  list: { readonly isOrdered: boolean; readonly depth: number; next: number } | undefined
  readonly heading: number
  /** It has a background of its own, or a border. */
  hasBox: boolean
  hasPadding: boolean
  /** The number of visible letters, counted for cells. */
  letters: number
  children: number
  lastChild: Frame | undefined
  /** Whether a select's option or a details' summary has been shown. */
  hasShown: boolean
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
