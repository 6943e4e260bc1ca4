import * as Color from "./Color.ts"
import type { Effects } from "./Effects.ts"
import * as Length from "./Length.ts"
import * as Shapes from "./Shapes.ts"

/** Records the effect of a property's value. A value that a browser drops has none. */
export type Property = (effects: Effects, value: string) => void

const fontSizes: Readonly<Record<string, number>> = {
  "xx-small": 9,
  "x-small": 10,
  small: 13,
  medium: 16,
  large: 18,
  "x-large": 24,
  "xx-large": 32,
  "xxx-large": 48
}

export const isInherited = (value: string) => value === "inherit" || value === "unset" || value === "revert"

const colorOf = (value: string): Color.Color | "inherit" | undefined => {
  if (value === "inherit" || value === "currentcolor" || value === "unset" || value === "revert") return "inherit"
  return value === "initial" ? Color.black : Color.parse(value)
}

const fontSize = (value: string): Effects["fontSize"] => {
  if (isInherited(value)) return "inherit"
  const named = fontSizes[value === "initial" ? "medium" : value]
  if (named !== undefined) return Length.ofPixels(named)
  if (value === "smaller" || value === "larger")
    return { px: 0, em: value === "smaller" ? 5 / 6 : 1.2, percent: 0, number: 0 }
  const length = Length.parse(value)
  if (length === undefined) return undefined
  // Browsers reject a plain number in a style, except 0.
  return length.number !== 0 ? undefined : { ...length, em: length.em + length.percent / 100, percent: 0 }
}

/** `italic bold 12px/30px Georgia, serif` */
const font = (effects: Effects, value: string) => {
  const match =
    /(?:^|\s)((?:[\d.+-][\w.%+-]*|calc\([^()]*\)|(?:x{1,3}-)?(?:small|large)|medium|smaller|larger))(?:\s*\/\s*([\w.%+-]+))?\s+\S/.exec(
      value.replace(/(^|\s)[1-9]00(?=\s)/g, (weight) => (Number(weight) >= 600 ? " bold" : " normal"))
    )
  const size = match?.[1] === undefined ? undefined : fontSize(match[1])
  if (size === undefined) return
  effects.fontSize = size
  effects.bold = /(^|\s)(bold|bolder|[6-9]00)\s/.test(value)
  effects.lineHeight = (match?.[2] === undefined ? undefined : Length.parse(match[2])) ?? "normal"
}

const color =
  (name: "color" | "fill" | "background", none: Color.Color): Property =>
  (effects, value) => {
    const found = value === "initial" ? none : colorOf(value)
    if (found !== undefined) effects[name] = found
  }

const length =
  (name: "spacing" | "indent"): Property =>
  (effects, value) => {
    const [first = ""] = value.split(" ")
    const found = value === "normal" ? Length.ofPixels(0) : isInherited(value) ? "inherit" : Length.parse(first)
    if (found !== undefined) effects[name] = found
  }

const background: Property = (effects, value) => Shapes.background(effects, value)

const clipsToText: Property = (effects, value) => {
  effects.clipsToText = value === "text"
}

const preserves: Property = (effects, value) => {
  if (isInherited(value)) effects.preserves = "inherit"
  else if (/^(pre|pre-wrap|break-spaces|preserve)(\s|$)/.test(value)) effects.preserves = "all"
  else effects.preserves = /^(pre-line|preserve-breaks)(\s|$)/.test(value) ? "lines" : "nothing"
}

/** Properties of colors and letters. */
export const properties: Readonly<Record<string, Property>> = {
  color: color("color", Color.black),
  "-webkit-text-fill-color": color("fill", Color.black),
  "background-color": (effects, value) =>
    color("background", Color.transparent)(effects, value === "unset" || value === "revert" ? "initial" : value),
  background,
  "background-image": (effects, value) => {
    effects.gradient = Shapes.gradient(value)
  },
  "background-clip": clipsToText,
  "-webkit-background-clip": clipsToText,
  font,
  "font-size": (effects, value) => {
    const size = fontSize(value)
    if (size !== undefined) effects.fontSize = size
  },
  "font-weight": (effects, value) => {
    if (isInherited(value)) effects.bold = "inherit"
    else effects.bold = value === "bold" || value === "bolder" || Number(value) >= 600
  },
  "line-height": (effects, value) => {
    const isNormal = value === "normal" || value === "initial"
    const height = isNormal ? "normal" : isInherited(value) ? "inherit" : Length.parse(value)
    if (height !== undefined) effects.lineHeight = height
  },
  "letter-spacing": length("spacing"),
  "text-indent": length("indent"),
  "white-space": preserves,
  "white-space-collapse": preserves,
  "text-transform": (effects, value) => {
    if (isInherited(value)) effects.letters = "inherit"
    else effects.letters = value === "uppercase" ? "upper" : value === "lowercase" ? "lower" : "as written"
  },
  "-webkit-text-security": (effects, value) => {
    effects.isDisc = value !== "none"
  }
}
