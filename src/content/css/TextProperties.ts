import * as Arguments from "./Arguments.ts"
import * as Background from "./Background.ts"
import * as Color from "./Color.ts"
import type { Effects } from "./Effects.ts"
import { thin } from "./HarmlessProperties.ts"
import * as Length from "./Length.ts"

/** Records the effect of a property's value. Returns false if Inlet does not evaluate the value. */
export type Property = (effects: Effects, value: string) => boolean

const fontSizes = new Map([
  ["xx-small", 9],
  ["x-small", 10],
  ["small", 13],
  ["medium", 16],
  ["large", 18],
  ["x-large", 24],
  ["xx-large", 32],
  ["xxx-large", 48]
])

export const isInherited = (value: string) => value === "inherit" || value === "unset"

const colorOf = (value: string): Color.Color | "inherit" | undefined => {
  if (value === "inherit" || value === "currentcolor" || value === "unset") return "inherit"
  return value === "initial" ? Color.black : Color.parse(value)
}

/** Larger letters do not fit the window. */
const largestFont = 300

/** In px. Text in higher lines is out of the window. */
const highestLine = 400

const fontSize = (value: string): Effects["fontSize"] => {
  if (isInherited(value)) return "inherit"
  const named = fontSizes.get(value === "initial" ? "medium" : value)
  if (named !== undefined) return Length.ofPixels(named)
  if (value === "smaller" || value === "larger")
    return { px: 0, em: value === "smaller" ? 5 / 6 : 1.2, percent: 0, number: 0 }
  const length = Length.parse(value)
  if (length === undefined || Length.resolve(length, 16, 16) > largestFont) return undefined
  return { ...length, em: length.em + length.percent / 100, percent: 0 }
}

/** `italic bold 12px/30px Georgia, serif` */
const font: Property = (effects, value) => {
  if (isInherited(value)) {
    Object.assign(effects, { fontSize: "inherit", bold: "inherit", lineHeight: "inherit" })
    return true
  }
  const match =
    /(?:^|\s)((?:[\d.+-][\w.%+-]*|calc\([^()]*\)|(?:x{1,3}-)?(?:small|large)|medium|smaller|larger))(?:\s*\/\s*([\w.%+-]+))?\s+\S/.exec(
      value.replace(/(^|\s)[1-9]00(?=\s)/g, (weight) => (Number(weight) >= 600 ? " bold" : " normal"))
    )
  const size = match?.[1] === undefined ? undefined : fontSize(match[1])
  if (size === undefined) return false
  effects.fontSize = size
  effects.bold = /(^|\s)(bold|bolder|[6-9]00)\s/.test(value)
  effects.lineHeight = (match?.[2] === undefined ? undefined : Length.parse(match[2])) ?? "normal"
  return true
}

const color =
  (name: "color" | "background", none: Color.Color): Property =>
  (effects, value) => {
    const found = value === "initial" ? none : colorOf(value)
    if (found !== undefined) effects[name] = found
    // Browsers ignore a word that is no color.
    return found !== undefined || /^#?[\w-]*$/.test(value)
  }

/** Wider gaps move text out of the window. */
const widest = 100

const length =
  (name: "spacing" | "indent"): Property =>
  (effects, value) => {
    const [first = ""] = value.split(" ")
    const isNone = value === "normal" || value === "initial"
    const found = isNone ? Length.ofPixels(0) : isInherited(value) ? "inherit" : Length.parse(first)
    if (found === undefined) return false
    effects[name] = found
    return name === "indent" || typeof found === "string" || Length.resolve(found, 16, 16) <= widest
  }

const preserves: Property = (effects, value) => {
  effects.isUnwrapped = isInherited(value) ? "inherit" : /^(nowrap|pre)(\s|$)/.test(value)
  if (isInherited(value)) effects.preserves = "inherit"
  else if (/^(pre|pre-wrap|break-spaces|preserve)(\s|$)/.test(value)) effects.preserves = "all"
  else effects.preserves = /^(pre-line|preserve-breaks)(\s|$)/.test(value) ? "lines" : "nothing"
  return true
}

const unwrapped: Property = (effects, value) => {
  effects.isUnwrapped = value.includes("nowrap")
  return true
}

const isThin = thin(10)

const shadow: Property = (effects, value) => {
  effects.isShadowed = value === "inherit" ? "inherit" : !/^(none|initial|unset|0|0px)$/.test(value)
  effects.covers ||= !isThin(value)
  return true
}

const isShort = thin(50)

/** In px. Text this near to a box may be under its shadow. */
const mostReach = 10

/** How far a shadow covers what is beside its box: its offset and its spread. */
const reach = (shadow: string): number => {
  const lengths = Arguments.words(shadow, " ").flatMap((word) => Length.parse(word) ?? [])
  const [x = 0, y = 0, , spread = 0] = lengths.map((length) => Math.abs(Length.resolve(length, 16, 0)))
  return Math.max(x, y) + spread
}

/** A wide shadow may cover the background, and a shadow inside of the box does. */
const boxShadow: Property = (effects, value) => {
  const outer = Arguments.split(value, ",").filter((one) => !one.includes("inset"))
  effects.covers ||= !isShort(outer.join())
  effects.spreads = !isThin(outer.join()) || outer.some((one) => reach(one) > mostReach)
  if (!isShort(value) || (value.includes("inset") && !isThin(value))) effects.picture = "inline"
  return true
}

/** Several properties with the same effect. */
export const each = (names: string, property: Property): Readonly<Record<string, Property>> =>
  Object.fromEntries(names.split(" ").map((name) => [name, property]))

/** Properties of colors and letters. */
export const properties: Readonly<Record<string, Property>> = {
  color: color("color", Color.black),
  "background-color": (effects, value) =>
    color("background", Color.transparent)(effects, value === "unset" ? "initial" : value),
  background: Background.all,
  "background-image": Background.images,
  font,
  "font-size": (effects, value) => {
    // Browsers ignore a negative size.
    if (/^-[\d.]/.test(value)) return true
    const size = fontSize(value)
    if (size === undefined) return false
    effects.fontSize = size
    return true
  },
  "font-weight": (effects, value) => {
    if (isInherited(value)) effects.bold = "inherit"
    else effects.bold = value === "bold" || value === "bolder" || Number(value) >= 600
    return true
  },
  "line-height": (effects, value) => {
    if (/^-[\d.]/.test(value)) return true
    const isNormal = value === "normal" || value === "initial"
    const height = isNormal ? "normal" : isInherited(value) ? "inherit" : Length.parse(value)
    if (height === undefined) return false
    effects.lineHeight = height
    return typeof height === "string" || Length.resolve(height, 16, 16) <= highestLine
  },
  "letter-spacing": length("spacing"),
  "text-indent": length("indent"),
  ...each("white-space white-space-collapse", preserves),
  ...each("text-wrap text-wrap-mode", unwrapped),
  "text-shadow": shadow,
  ...each("box-shadow -webkit-box-shadow", boxShadow),
  "text-transform": (effects, value) => {
    if (isInherited(value)) effects.letters = "inherit"
    else effects.letters = value === "uppercase" ? "upper" : value === "lowercase" ? "lower" : "as written"
    return true
  }
}
