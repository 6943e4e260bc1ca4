import * as Color from "./Color.ts"
import * as Effects from "./Effects.ts"
import * as Length from "./Length.ts"
import * as Place from "./Place.ts"

/** The style of a page before any declaration. */
class Initial {
  /** Hidden with all its content. */
  isGone = false
  /** In a box without room. Content with an absolute position may be outside of it. */
  isShut = false
  /** A declaration that Inlet does not evaluate may hide the text and all content. */
  isDoubtful = false
  /** A browser may hide text at this position. */
  isUncertain = false
  isVisible = true
  opacity = 1
  color = Color.black
  /** The colors behind the text: one, or those of a gradient. */
  backdrop: ReadonlyArray<Color.Color> = [Color.white]
  /** An image behind the text. */
  picture: "remote" | "inline" | undefined = undefined
  isShadowed = false
  fontSize = 16
  /** The factor between the visible and the declared font size. */
  scale = 1
  spacing = 0
  indent = 0
  lineHeight: Length.Length | "normal" = "normal"
  isBold = false
  preserves: "nothing" | "lines" | "all" = "nothing"
  isUnwrapped = false
  letters: "upper" | "lower" | "as written" = "as written"
  /** The distance in px from its usual place. */
  x = 0
  y = 0
  clip: Place.Clip | undefined = undefined
  /** The width of its content in px, as far as it is declared. */
  room = Place.usualWidth
  /** Its children have sizes that depend on each other. */
  hasTracks = false
  /** Text at this position is visible. */
  isShown = true
  /** An image at this position is visible. */
  showsImages = true
}

/** Inherited styles of an element, and whether text in it is visible. */
export type Style = Readonly<Initial>

export const initial: Style = new Initial()

/** Minimum contrast of readable text. */
const leastContrast = 1.3

const leastFontSize = 4
const leastOpacity = 0.1

/** The distance in px from which text is outside of the window. The page does not scroll to the left or top. */
const farBack = 500

/** Distances in px within which text surely stays in the window. */
const near = 600
const nearBack = 60
const nearUp = 100

/** The same with its content hidden. */
export const gone = (style: Style): Style =>
  style.isGone ? style : { ...style, isGone: true, isShown: false, showsImages: false }

/** The same with uncertain content. */
export const uncertain = (style: Style): Style =>
  style.isDoubtful ? style : { ...style, isDoubtful: true, isUncertain: true }

/** The same after the first line of its block, which alone is indented. */
export const unindented = (style: Style): Style =>
  style.indent > -farBack ? style : uncertain(judged({ ...style, indent: 0 }, false))

/** The same in front of what is behind another element. */
export const inFrontOf = (style: Style, { backdrop, picture }: Style): Style =>
  style.backdrop === backdrop && style.picture === picture ? style : { ...style, backdrop, picture }

/** Legible on all, some or none of the colors behind the text. */
const legibility = (style: Style): "all" | "some" | "none" => {
  const alpha = Math.round(Color.alphaOf(style.color) * style.opacity)
  const seen = ((style.color & 0xffffff00) | alpha) >>> 0
  let legible = 0
  for (const behind of style.backdrop) {
    if (Color.contrast(Color.over(seen, behind), behind) >= leastContrast) legible++
  }
  return legible === 0 ? "none" : legible === style.backdrop.length ? "all" : "some"
}

const heightOf = ({ em, number, percent, px }: Length.Length, fontSize: number): number =>
  px + (em + number + percent / 100) * fontSize

/** The height of a line in px. */
export const lineHeight = ({ fontSize, lineHeight }: Style): number =>
  lineHeight === "normal" ? 1.15 * fontSize : heightOf(lineHeight, fontSize)

/** Lines of less than 4 px cover each other. */
export const isThin = (style: Style): boolean => style.lineHeight !== "normal" && lineHeight(style) < Effects.leastBox

const given = <A>(value: A | "inherit" | undefined, otherwise: A): A =>
  value === undefined || value === "inherit" ? otherwise : value

/** The colors behind the text of an element. */
const backdrop = (parent: Style, effects: Effects.Effects): ReadonlyArray<Color.Color> => {
  if (effects.background === undefined && effects.gradient === undefined) return parent.backdrop
  const own = given(effects.background, Color.transparent)
  const base = Color.alphaOf(own) === 0 ? parent.backdrop : parent.backdrop.map((behind) => Color.over(own, behind))
  const { gradient } = effects
  if (gradient === undefined) return Color.alphaOf(own) === 255 ? base.slice(0, 1) : base
  return gradient.map((stop) => Color.over(stop, base[0] ?? Color.white))
}

const isOpaque = ({ background, gradient }: Effects.Effects) =>
  gradient !== undefined || (typeof background === "number" && Color.alphaOf(background) === 255)

const fields = Object.keys(initial) as ReadonlyArray<keyof Style> // It has all fields.

/** The style of an element in `parent`. One without a difference is that of its parent, so that its children share theirs. */
export const inside = (parent: Style, effects: Effects.Effects): Style => {
  const style = computed(parent, effects)
  return fields.every((field) => style[field] === parent[field]) ? parent : style
}

const computed = (parent: Style, effects: Effects.Effects): Style => {
  const declared = given(effects.fontSize, undefined)
  const fontSize =
    declared === undefined
      ? parent.fontSize
      : Math.min(10_000, Math.max(0, Length.resolve(declared, parent.fontSize, parent.fontSize)))
  const spacing = given(effects.spacing, undefined)
  const indent = given(effects.indent, undefined)
  const lineHeight = given(effects.lineHeight, parent.lineHeight)
  const isThinLine = lineHeight !== "normal" && heightOf(lineHeight, fontSize) < Effects.leastBox
  const isUnwrapped = given(effects.isUnwrapped, parent.isUnwrapped)
  const { clip, isShut, isUnknown, room, x, y } = Place.place(parent, effects, {
    fontSize,
    isThin: isThinLine,
    isUnwrapped
  })
  const style = {
    isGone: parent.isGone || isGone(effects),
    isShut,
    isUncertain: false,
    isDoubtful:
      parent.isDoubtful || effects.isUnsure === true || isUnknown || (parent.hasTracks && parent.clip !== undefined),
    isVisible: given(effects.visible, parent.isVisible),
    opacity: parent.opacity * (effects.opacity ?? 1),
    color: given(effects.color, parent.color),
    backdrop: backdrop(parent, effects),
    picture: effects.picture ?? (isOpaque(effects) ? undefined : parent.picture),
    isShadowed: given(effects.isShadowed, parent.isShadowed),
    fontSize,
    scale: parent.scale * (effects.scale ?? 1),
    spacing: spacing === undefined ? parent.spacing : Length.resolve(spacing, fontSize, fontSize),
    indent: indent === undefined ? parent.indent : Length.resolve(indent, fontSize, Place.usualWidth),
    lineHeight,
    isBold: given(effects.bold, parent.isBold),
    preserves: given(effects.preserves, parent.preserves),
    isUnwrapped,
    letters: given(effects.letters, parent.letters),
    x,
    y,
    clip,
    room,
    hasTracks: effects.hasTracks === true,
    isShown: false,
    showsImages: false
  }
  return judged(style, effects.mayShow === true && !parent.isGone)
}

/** Sets what is visible at this position. */
const judged = (style: Initial, mayShow: boolean): Style => {
  const { fontSize, indent, picture, scale, spacing, x, y } = style
  const left = x + Math.min(0, indent)
  const right = x + Math.max(0, indent)
  const isAway = left < -farBack || y < -farBack
  style.showsImages =
    !style.isGone && !style.isShut && !isAway && style.isVisible && style.opacity >= leastOpacity && scale >= 0.1
  const isLarge = fontSize * scale >= leastFontSize && spacing > -0.8 * fontSize
  const legible = legibility(style)
  const isCovered = style.isShadowed || picture !== undefined
  style.isShown = style.showsImages && isLarge && (legible !== "none" || isCovered)
  style.isUncertain =
    style.isDoubtful ||
    left < -nearBack ||
    right > near ||
    y < -nearUp ||
    y > Place.far ||
    spacing < -0.3 * fontSize ||
    legible === "some" ||
    (legible === "none" && isCovered) ||
    picture === "inline"
  if (mayShow && !style.isShown) {
    const { color, backdrop, isVisible, opacity } = initial
    Object.assign(style, { isGone: false, isShut: false, color, backdrop, isVisible, opacity, x: 0, y: 0 })
    style.isDoubtful = style.isUncertain = style.isShown = style.showsImages = true
  }
  return style
}

/** Hidden with all its content, whatever its descendants declare. */
const isGone = (effects: Effects.Effects): boolean =>
  effects.display === "none" ||
  effects.isClippedByPath === true ||
  (effects.isClipped === true && (effects.position === "absolute" || effects.position === "fixed"))
