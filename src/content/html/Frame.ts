import type { Display, Effects } from "../css/Effects.ts"
import type { Matched } from "../css/Selector.ts"
import type { Style } from "../css/Style.ts"
import type { ElementKind } from "./ElementKind.ts"

/** A row of a table; its cells are counted while they come. */
export interface Row {
  cells: number
  /** Its parent: the table or a part of it. */
  readonly table: Frame
}

/** An element that is open. */
export interface Frame extends Matched {
  readonly kind: ElementKind
  readonly parent: Frame | undefined
  readonly previous: Frame | undefined
  /** Its start tag, for telling one formatting element from another. */
  readonly tag: string
  effects: Effects | undefined
  display: Display
  /** Its own, and of what is in it: they differ where the content is closed. */
  style: Style
  inner: Style
  /** Its content is collapsed. */
  isClosed: boolean
  /** Custom properties, own and those further out. */
  custom: { readonly own: ReadonlyMap<string, string>; readonly outer: Frame["custom"] } | undefined
  /** Number of the innermost block or cell. */
  element: number
  readonly row: Row | undefined
  /** The innermost cell. */
  cell: Frame | undefined
  /** Place of the cell in its row, from 1. */
  readonly column: number
  isQuoted: boolean
  /** Its following siblings are quoted. */
  readonly quotesTheRest: boolean
  list: { readonly isOrdered: boolean; readonly depth: number; next: number } | undefined
  readonly heading: number
  /** Has a background of its own, or a border. */
  hasBox: boolean
  hasPadding: boolean
  /** Letters seen in it, counted for cells. */
  letters: number
  children: number
  lastChild: Frame | undefined
  /** True once a select's option or a details' summary was seen. */
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
