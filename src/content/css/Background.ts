import * as Arguments from "./Arguments.ts"
import * as Color from "./Color.ts"
import type { Effects } from "./Effects.ts"

/** Maximum evaluated colors of a gradient. */
const mostColors = 16

const gradient = /^(?:-webkit-)?(?:repeating-)?(?:linear|radial|conic)-gradient$/

/** Directions, shapes and positions in a gradient. */
const direction =
  /^(?:to|from|at|top|bottom|left|right|center|circle|ellipse|(?:closest|farthest)-(?:side|corner)|[+-]?[\d.]+(?:%|[a-z]*))$/

/** Adds an image. Returns false if Inlet does not evaluate it. */
const draw = (effects: Effects, image: string): boolean => {
  const open = image.indexOf("(")
  const [name, content] = [image.slice(0, open), image.slice(open + 1, image.lastIndexOf(")"))]
  if (name === "url") {
    effects.picture = /^["']?(?:data|cid):/.test(content) ? "inline" : (effects.picture ?? "remote")
    return true
  }
  if (!gradient.test(name)) return false
  const words = Arguments.words(content, " ,").filter((word) => !direction.test(word))
  const colors = words.slice(0, mostColors).flatMap((word) => Color.parse(word) ?? [])
  effects.gradient = [...(effects.gradient ?? []), ...colors]
  return colors.length > 0 && colors.length === words.length
}

/** `background-image` */
export const images = (effects: Effects, value: string): boolean => {
  effects.gradient = undefined
  effects.picture = undefined
  return Arguments.split(value, ",").every((part) => part === "none" || part === "initial" || draw(effects, part))
}

const placing =
  /^(?:repeat|repeat-[xy]|no-repeat|space|round|scroll|fixed|local|border-box|padding-box|content-box|top|bottom|left|right|center|cover|contain|auto|none|initial|[+-]?[\d.]+(?:%|[a-z]*))$/

/** The `background` shorthand: its color and images. */
export const all = (effects: Effects, value: string): boolean => {
  images(effects, "none")
  effects.background = value === "inherit" ? "inherit" : Color.transparent
  if (value === "inherit") return true
  let isKnown = true
  for (const word of Arguments.words(value, " /,")) {
    if (placing.test(word)) continue
    const color = Color.parse(word)
    if (color !== undefined) effects.background = color
    else isKnown = draw(effects, word) && isKnown
  }
  return isKnown
}
