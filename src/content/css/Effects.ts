import type { Color } from "./Color.ts"
import type { Length } from "./Length.ts"

/** The layout of an element relative to others, as far as lines depend on it. */
export type Display = "none" | "inline" | "block" | "row" | "cell" | "table" | "item"

/** The effects of an element's declarations on the visibility of its text. */
export interface Effects {
  display?: Display
  visible?: boolean | "inherit"
  color?: Color | "inherit"
  /** `-webkit-text-fill-color`, which wins over the color. */
  fill?: Color | "inherit"
  background?: Color | "inherit"
  /** The colors of a gradient in front of the background color. */
  gradient?: ReadonlyArray<Color> | undefined
  /** The background is visible only through the letters. */
  clipsToText?: boolean
  fontSize?: Length | "inherit"
  lineHeight?: Length | "normal" | "inherit"
  spacing?: Length | "inherit"
  indent?: Length | "inherit"
  bold?: boolean | "inherit"
  /** Line breaks are kept (`pre-line`), or all whitespace. */
  preserves?: "nothing" | "lines" | "all" | "inherit"
  letters?: "upper" | "lower" | "as written" | "inherit"
  opacity?: number
  filter?: number
  /** The scale from `transform`, `scale` and `zoom`. */
  transform?: number
  scale?: number
  zoom?: number
  rotate?: number
  /** Moved out of sight by `transform` or `translate`. */
  isMoved?: boolean
  isTranslated?: boolean
  isClipped?: boolean
  isClippedByPath?: boolean
  isMasked?: boolean
  isDisc?: boolean
  skipsContent?: boolean
  position?: "static" | "relative" | "absolute"
  left?: Length | undefined
  right?: Length | undefined
  top?: Length | undefined
  bottom?: Length | undefined
  marginLeft?: Length | undefined
  marginTop?: Length | undefined
  width?: Length | undefined
  height?: Length | undefined
  maxWidth?: Length | undefined
  maxHeight?: Length | undefined
  clipsX?: boolean
  clipsY?: boolean
  hasPadding?: boolean
  hasBorder?: boolean
  /** Custom properties, by name. */
  custom?: Map<string, string>
  /** A value depends on the element's position: `var()`. */
  isLate?: boolean
}

/** A box of this many px shows no letter. */
const leastBox = 4

/** Offset in px from which text counts as outside the window. Less to the left and top. */
export const far = 1_000
export const farBack = 500

const isSmall = (length: Length | undefined, em: number) =>
  length !== undefined && length.px + length.number + length.em * em < leastBox && length.percent < 1

/** To the left or top, where the page cannot scroll. */
const isFarBack = (length: Length | undefined, em: number) =>
  length !== undefined && (length.px + length.number + length.em * em < -farBack || length.percent <= -100)

const isFarOff = (length: Length | undefined, em: number) =>
  length !== undefined &&
  (Math.abs(length.px + length.number + length.em * em) > far || Math.abs(length.percent) >= 1_000)

/** Whether an element with its content is hidden, whatever its descendants declare. `em` is its font size. */
export const isGone = (effects: Effects, em: number): boolean => {
  if (effects.display === "none" || effects.skipsContent === true) return true
  if (effects.isMoved === true || effects.isTranslated === true || effects.isClippedByPath === true) return true
  if (effects.isMasked === true) return true
  if (effects.clipsX === true && (isSmall(effects.width, em) || isSmall(effects.maxWidth, em))) return true
  if (effects.clipsY === true && (isSmall(effects.height, em) || isSmall(effects.maxHeight, em))) return true
  if (isFarBack(effects.marginLeft, em) || isFarBack(effects.marginTop, em)) return true
  if (effects.position === undefined || effects.position === "static") return false
  if (effects.isClipped === true && effects.position === "absolute") return true
  const { bottom, left, right, top } = effects
  return isFarBack(left, em) || isFarBack(top, em) || [left, right, top, bottom].some((side) => isFarOff(side, em))
}

/** Whether it hides text regardless of its parents and colors. */
export const hides = (effects: Effects): boolean => {
  const { fontSize, opacity = 1, visible } = effects
  const isTiny = typeof fontSize === "object" && fontSize.px + fontSize.em * 16 < leastBox
  return isGone(effects, 16) || visible === false || opacity < 0.1 || isTiny
}
