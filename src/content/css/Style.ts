import * as Color from "./Color.ts"
import * as Effects from "./Effects.ts"
import * as Length from "./Length.ts"

/** Inherited styles of an element, and whether text in it is visible. */
export interface Style {
  /** Hidden with all its content. */
  readonly isGone: boolean
  readonly isVisible: boolean
  readonly opacity: number
  readonly color: Color.Color
  readonly fill: Color.Color | undefined
  /** The colors behind the text: one, or those of a gradient. */
  readonly backdrop: ReadonlyArray<Color.Color>
  readonly fontSize: number
  /** The factor between the visible and the declared font size. */
  readonly scale: number
  readonly spacing: number
  readonly indent: number
  readonly lineHeight: Length.Length | "normal"
  readonly isBold: boolean
  readonly preserves: "nothing" | "lines" | "all"
  readonly letters: "upper" | "lower" | "as written"
  readonly isDisc: boolean
  /** Text at this position is visible. */
  readonly isShown: boolean
  /** An image at this position is visible. */
  readonly showsImages: boolean
}

/** Minimum contrast of readable text. */
const leastContrast = 1.3

const leastFontSize = 4
const leastOpacity = 0.1

export const initial: Style = {
  isGone: false,
  isVisible: true,
  opacity: 1,
  color: Color.black,
  fill: undefined,
  backdrop: [Color.white],
  fontSize: 16,
  scale: 1,
  spacing: 0,
  indent: 0,
  lineHeight: "normal",
  isBold: false,
  preserves: "nothing",
  letters: "as written",
  isDisc: false,
  isShown: true,
  showsImages: true
}

/** The same with its content hidden. */
export const gone = (style: Style): Style =>
  style.isGone ? style : { ...style, isGone: true, isShown: false, showsImages: false }

const isLegible = (style: Style): boolean => {
  const ink = style.fill ?? style.color
  const alpha = Math.round(Color.alphaOf(ink) * style.opacity)
  const seen = ((ink & 0xffffff00) | alpha) >>> 0
  return style.backdrop.some((behind) => Color.contrast(Color.over(seen, behind), behind) >= leastContrast)
}

const isThin = ({ fontSize, lineHeight }: Style): boolean => {
  if (lineHeight === "normal") return false
  const { em, number, percent, px } = lineHeight
  return px + (em + number + percent / 100) * fontSize <= 1
}

const given = <A>(value: A | "inherit" | undefined, otherwise: A): A =>
  value === undefined || value === "inherit" ? otherwise : value

const background = (parent: Style, effects: Effects.Effects): ReadonlyArray<Color.Color> => {
  if (effects.background === undefined && effects.gradient === undefined) return parent.backdrop
  if (effects.clipsToText === true) return parent.backdrop
  const own = given(effects.background, Color.transparent)
  const base = Color.alphaOf(own) === 0 ? parent.backdrop : parent.backdrop.map((behind) => Color.over(own, behind))
  const { gradient } = effects
  if (gradient === undefined) return Color.alphaOf(own) === 255 ? base.slice(0, 1) : base
  return gradient.map((stop) => Color.over(stop, base[0] ?? Color.white))
}

/** Letters with a clipped background have the background's color. */
const ink = (effects: Effects.Effects, color: Color.Color): Color.Color => {
  if (effects.clipsToText !== true || Color.alphaOf(color) > 25) return color
  return effects.gradient?.[0] ?? given(effects.background, color)
}

/** The style of an element in `parent`. */
export const inside = (parent: Style, effects: Effects.Effects): Style => {
  const size = given(effects.fontSize, undefined)
  const fontSize =
    size === undefined
      ? parent.fontSize
      : Math.min(10_000, Math.max(0, Length.resolve(size, parent.fontSize, parent.fontSize)))
  const spacing = given(effects.spacing, undefined)
  const indent = given(effects.indent, undefined)
  const fill = given(effects.fill, parent.fill)
  const color = given(effects.color, parent.color)
  const style = {
    isGone:
      parent.isGone ||
      Effects.isGone(effects, fontSize) ||
      (effects.clipsX === true && indent !== undefined && indent.percent >= 100),
    isVisible: given(effects.visible, parent.isVisible),
    opacity: parent.opacity * (effects.opacity ?? 1) * (effects.filter ?? 1),
    color: ink(effects, color),
    fill: fill === undefined ? undefined : ink(effects, fill),
    backdrop: background(parent, effects),
    fontSize,
    scale: parent.scale * (effects.transform ?? 1) * (effects.scale ?? 1) * (effects.zoom ?? 1) * (effects.rotate ?? 1),
    spacing: spacing === undefined ? parent.spacing : Length.resolve(spacing, fontSize, fontSize),
    indent:
      indent === undefined
        ? parent.indent
        : indent.percent <= -100
          ? -2 * Effects.far
          : Length.resolve(indent, fontSize, 600),
    lineHeight: given(effects.lineHeight, parent.lineHeight),
    isBold: given(effects.bold, parent.isBold),
    preserves: given(effects.preserves, parent.preserves),
    letters: given(effects.letters, parent.letters),
    isDisc: effects.isDisc ?? parent.isDisc,
    isShown: false,
    showsImages: false
  }
  style.showsImages = !style.isGone && style.isVisible && style.opacity >= leastOpacity && style.scale >= 0.1
  style.isShown =
    style.showsImages &&
    style.fontSize * style.scale >= leastFontSize &&
    style.indent <= Effects.far &&
    style.indent >= -Effects.farBack &&
    style.spacing > -0.8 * style.fontSize &&
    !style.isDisc &&
    !isThin(style) &&
    isLegible(style)
  return style
}
