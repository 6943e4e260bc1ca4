import * as Effects from "./Effects.ts"
import * as Length from "./Length.ts"

/** A box that clips its content, with its position and its size in px where known. */
export interface Clip {
  readonly x: number
  readonly y: number
  readonly width: number | undefined
  readonly height: number | undefined
}

/** The distance in px to the right or down from which a person may not look for text. */
export const far = 1_000

/** The width of a block whose width is unknown. */
export const usualWidth = 600

/** The position in px of an element around another. */
interface Parent {
  readonly x: number
  readonly y: number
  readonly clip: Clip | undefined
  readonly isShut: boolean
  /** The width in px of its content, as far as it is declared. */
  readonly room: number
}

/** The position of an element and what its box clips. */
export interface Place extends Parent {
  /** Whether it is visible depends on sizes that Inlet does not compute. */
  readonly isUnknown: boolean
}

interface Offset {
  readonly x: number
  readonly y: number
}

/** The distance in px from the place that an element has without its declarations. */
const offset = (effects: Effects.Effects, fontSize: number): Offset => {
  const px = (length: Length.Length | undefined) =>
    length === undefined ? 0 : Length.resolve(length, fontSize, usualWidth)
  const { left, marginLeft, marginTop, position = "static", top } = effects
  const isPositioned = position !== "static"
  return {
    x: px(marginLeft) + (isPositioned ? px(left) : 0),
    y: Math.min(0, px(marginTop)) + (isPositioned ? px(top) : 0)
  }
}

const size = (one: Length.Length | undefined, other: Length.Length | undefined, em: number): number | undefined => {
  const known = [one, other].flatMap((length) =>
    length === undefined || length.percent !== 0 ? [] : [Length.resolve(length, em, 0)]
  )
  return known.length === 0 ? undefined : Math.min(...known)
}

/** A table grows with its content, unless its layout is fixed. */
const room = (parent: Parent, { display, hasTracks, maxWidth, width }: Effects.Effects, em: number): number => {
  if (display === "table" && hasTracks !== true) return usualWidth
  const px = (length: Length.Length | undefined, otherwise: number) =>
    length === undefined ? otherwise : Length.resolve(length, em, parent.room)
  return Math.min(px(width, parent.room), px(maxWidth, Number.POSITIVE_INFINITY))
}

/** Boxes below these widths in px may cut off a word, or text in one line. */
const narrow = 100
const narrowLine = 400

const isShut = (effects: Effects.Effects, em: number): boolean => {
  const { clipsX, clipsY, height, maxHeight, maxWidth, width } = effects
  if (clipsX === true && (Effects.isSmall(width, em) || Effects.isSmall(maxWidth, em))) return true
  if (clipsX === true && typeof effects.indent === "object" && effects.indent.percent >= 100) return true
  if (clipsY !== true) return false
  return Effects.isSmall(height, em) || Effects.isSmall(maxHeight, em)
}

/** What the style of an element says of its lines. */
interface Lines {
  readonly fontSize: number
  readonly isThin: boolean
  readonly isUnwrapped: boolean
}

export const place = (parent: Parent, effects: Effects.Effects, { fontSize, isThin, isUnwrapped }: Lines): Place => {
  const { clipsX = false, clipsY = false, position = "static" } = effects
  const isFixed = position === "fixed"
  // An absolute position leaves a box that clips, or not.
  const isOut = isFixed || position === "absolute"
  const own = offset(effects, fontSize)
  const [x, y] = isFixed ? [own.x, own.y] : [parent.x + own.x, parent.y + own.y]
  const shuts = (clipsX || clipsY) && isShut(effects, fontSize)
  const isOpen = shuts && (effects.hasPadding === true || effects.hasMinimum === true)
  const outer = isOut ? undefined : parent.clip
  const inner = room(isOut ? { ...parent, room: usualWidth } : parent, effects, fontSize)
  const isNarrow = inner < (isUnwrapped ? narrowLine : narrow)
  const box = (): Clip => ({
    x,
    y,
    width: least(
      clipsX && !isOpen
        ? (size(effects.width, effects.maxWidth, fontSize) ?? (isNarrow ? inner : undefined))
        : undefined,
      outer?.width
    ),
    height: clipsY && !isOpen ? size(effects.height, effects.maxHeight, fontSize) : undefined
  })
  const where = isOut ? "inside" : placed(parent.clip, x, y)
  return {
    x,
    y,
    clip: clipsX || clipsY ? box() : isOut ? undefined : parent.clip,
    isShut: (parent.isShut && !isOut) || (shuts && !isOpen) || where === "outside",
    room: inner,
    isUnknown:
      isOpen ||
      isFixed ||
      (isOut && parent.clip !== undefined) ||
      where === "unknown" ||
      (clipsX || clipsY ? isThin || isNarrowed(effects, own.x) : isOverflowing(effects, fontSize))
  }
}

/** A wider margin leaves a box without room. */
const widestMargin = 200

/** Its content may not fit. */
const isNarrowed = ({ isRound, width }: Effects.Effects, x: number): boolean =>
  isRound === true || (width === undefined && x > widestMargin)

const least = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other)

/** Where in a box that clips its content an element begins. */
const placed = (clip: Clip | undefined, x: number, y: number): "inside" | "outside" | "unknown" => {
  if (clip === undefined) return "inside"
  const [right, down] = [x - clip.x, y - clip.y]
  if (right >= (clip.width ?? far) || down >= (clip.height ?? far)) return "outside"
  const isInside =
    right > -8 &&
    down > -8 &&
    right + 60 <= (clip.width ?? 260) &&
    (clip.height === undefined || down + 10 <= clip.height)
  return isInside || (right === 0 && down === 0) ? "inside" : "unknown"
}

/** Text higher than its box, which later elements may cover. */
const isOverflowing = ({ display, height, maxHeight }: Effects.Effects, em: number): boolean =>
  display !== "inline" && display !== undefined && display !== "cell" && display !== "row" && display !== "table"
    ? Effects.isSmall(height, em) || Effects.isSmall(maxHeight, em)
    : false
