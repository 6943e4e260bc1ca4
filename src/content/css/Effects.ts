import type { Color } from "./Color.ts"
import type { Length } from "./Length.ts"

/** The layout of an element relative to others, as far as lines depend on it. */
export type Display = "none" | "inline" | "block" | "row" | "cell" | "table" | "item"

/**
 * The effects of an element's declarations on the visibility of its text. A class, so that all have one shape in memory
 * and are read faster.
 */
export class Effects {
  /** A declaration may hide the text in a way that Inlet does not evaluate. */
  isUnsure: boolean | undefined = undefined
  /** A declaration may show text that others hide, such as an animation. */
  mayShow: boolean | undefined = undefined
  /** The effects in a page without a doctype, if they differ. */
  quirky: Effects | undefined = undefined
  /** Content before or after it may cover other elements. */
  covers: boolean | undefined = undefined
  /** Its shadow may cover text beside it. */
  spreads: boolean | undefined = undefined
  display: Display | undefined = undefined
  /** Its children have sizes that depend on each other, as in a flex or grid container. */
  hasTracks: boolean | undefined = undefined
  visible: boolean | "inherit" | undefined = undefined
  color: Color | "inherit" | undefined = undefined
  background: Color | "inherit" | undefined = undefined
  /** The colors of a gradient in front of the background color. */
  gradient: ReadonlyArray<Color> | undefined = undefined
  /** A background image, which mail programs load (`remote`) or show from the mail itself (`inline`). */
  picture: "remote" | "inline" | undefined = undefined
  /** Letters have a shadow. */
  isShadowed: boolean | "inherit" | undefined = undefined
  fontSize: Length | "inherit" | undefined = undefined
  lineHeight: Length | "normal" | "inherit" | undefined = undefined
  spacing: Length | "inherit" | undefined = undefined
  indent: Length | "inherit" | undefined = undefined
  bold: boolean | "inherit" | undefined = undefined
  /** Line breaks are kept (`pre-line`), or all whitespace. */
  preserves: "nothing" | "lines" | "all" | "inherit" | undefined = undefined
  /** Lines end at line breaks only. */
  isUnwrapped: boolean | "inherit" | undefined = undefined
  letters: "upper" | "lower" | "as written" | "inherit" | undefined = undefined
  opacity: number | undefined = undefined
  /** Scaled by `transform`. */
  scale: number | undefined = undefined
  /** Drawn by `transform` and the like, and thus above other elements. */
  isRaised: boolean | undefined = undefined
  isClipped: boolean | undefined = undefined
  isClippedByPath: boolean | undefined = undefined
  position: "static" | "relative" | "absolute" | "fixed" | undefined = undefined
  left: Length | undefined = undefined
  top: Length | undefined = undefined
  marginLeft: Length | undefined = undefined
  marginTop: Length | undefined = undefined
  /** In px, how far elements that follow move over it, because of negative margins behind and below it. */
  pulls: number | undefined = undefined
  width: Length | undefined = undefined
  height: Length | undefined = undefined
  maxWidth: Length | undefined = undefined
  maxHeight: Length | undefined = undefined
  /** A minimum size, which keeps a box open. */
  hasMinimum: boolean | undefined = undefined
  clipsX: boolean | undefined = undefined
  clipsY: boolean | undefined = undefined
  isRound: boolean | undefined = undefined
  hasPadding: boolean | undefined = undefined
  hasBorder: boolean | undefined = undefined
}

/** A box of this many px shows no letter. */
export const leastBox = 4

/** Whether a side of a box is too small for a letter. `em` is its font size. */
export const isSmall = (length: Length | undefined, em: number): boolean =>
  length !== undefined && length.px + length.number + length.em * em < leastBox && length.percent < 1

/** Whether an element paints something that can cover what is behind it. */
export const paints = ({ background, gradient, picture }: Effects): boolean =>
  gradient !== undefined || picture !== undefined || (typeof background === "number" && (background & 255) > 25)
