import type { Effects } from "../css/Effects.ts"
import type { Clip } from "../css/Place.ts"
import * as Style from "../css/Style.ts"
import type { ElementKind } from "./ElementKind.ts"
import type { Clipped, Frame } from "./Frame.ts"

/** Widths of letters as shares of the font size. */
const widest = 0.75
const narrowest = 0.2

/** The width of a box whose width is unknown. */
const usualWidth = 400

/** The length of a text that fits on one line. */
const oneLine = 80

/** The length of an unwrapped line that surely fits into the window. */
const longLine = 200

/** A box that clips its content. Undefined if its size is unknown. */
export const open = (
  clip: Clip | undefined,
  isUnwrapped: boolean,
  line: number,
  outer: Clipped | undefined,
  effects: Effects
): Clipped | undefined => {
  if (clip === undefined) return undefined
  const isSized = clip.width !== undefined || clip.height !== undefined || isUnwrapped || outer !== undefined
  // With padding or a border, `box-sizing` decides where its content begins.
  const isFilled = outer !== undefined || effects.hasPadding === true || effects.hasBorder === true
  return isSized ? { clip, line, letters: 0, isFilled } : undefined
}

/** Notes an element in a box. Only plain inline elements leave the position of the text after them known. */
export const fill = (clipped: Clipped, { css, isVoid, name }: ElementKind, isStyled: boolean) => {
  const isPlain = css === "" || css.startsWith("font-weight")
  clipped.isFilled ||= isStyled || !isPlain || (isVoid && name !== "br")
}

/**
 * Whether text is hidden by a box that clips its content, or may be: only text that surely fits on the first line of
 * the box is not. `line` is the index of its line, and `column` the number of letters before it.
 */
export const doubt = (frame: Frame, text: string, line: number, column: number): "none" | "hidden" | "uncertain" => {
  const { clipped, inner } = frame
  const isOut = text.length > oneLine && Style.isThin(inner)
  // A long line may begin left of the window.
  const isWide = inner.isUnwrapped && column + text.length > longLine
  const certain = inner.isUncertain || isOut || isWide ? "uncertain" : "none"
  if (clipped === undefined) return certain
  const { clip } = clipped
  const { fontSize } = inner
  const before = clipped.letters
  clipped.letters += text.trim().length
  const width = clip.width ?? usualWidth
  const isOver = clipped.letters * fontSize * widest > width
  if (inner.isUnwrapped && clip.width !== undefined && before * fontSize * narrowest > width) return "hidden"
  if (clip.height === undefined) {
    const isOpen = !clipped.isFilled || (width >= usualWidth && !inner.isUnwrapped)
    return isOpen && !(isOver && (inner.isUnwrapped || width < 100)) ? certain : "uncertain"
  }
  const above = line - clipped.line
  const height = Style.lineHeight(inner)
  if (above > 0 && above * height >= clip.height) return "hidden"
  if (clipped.isFilled) return "uncertain"
  const isFirst = above <= 0 && !isOver && (height + fontSize) / 2 <= clip.height + 4
  // Higher boxes have room for the text at half the width.
  const lines = Math.ceil((clipped.letters * fontSize * widest) / (width / 2)) + above
  return isFirst || lines * Math.max(fontSize * 1.5, height) <= clip.height ? certain : "uncertain"
}
