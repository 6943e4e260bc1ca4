import * as Arguments from "./Arguments.ts"
import * as Color from "./Color.ts"
import type { Effects } from "./Effects.ts"
import * as Length from "./Length.ts"

/** Maximum evaluated function calls of a value. */
const mostCalls = 16

/** Function calls in a value with their arguments. Undefined if it has anything else, or too many. */
const calls = (value: string): ReadonlyArray<readonly [name: string, content: string]> | undefined => {
  // Calls need no space between them.
  const parts = Arguments.words(value.replaceAll(")", ") "), " ,")
  if (parts.length > mostCalls || !parts.every((part) => part.endsWith(")") && part.includes("("))) return undefined
  return parts.map((part) => [part.slice(0, part.indexOf("(")), part.slice(part.indexOf("(") + 1, -1).trim()])
}

/** A gradient stop without its positions: `red 10% 20%` is red. */
const withoutPlaces = (stop: string): string => {
  const words = stop.split(/\s+/)
  while (words.length > 1 && /^[+-]?[\d.]+(%|[a-z]+)$/.test(words.at(-1) ?? "")) words.pop()
  return words.join(" ")
}

/** Maximum evaluated stops of a gradient. */
const mostStops = 16

const isDirection = (stop: string) =>
  /^(to |from |at |in |[+-]?[\d.]+(deg|turn|rad|grad)$|circle|ellipse|closest|farthest)/.test(stop)

/** The background images of a value. Undefined if Inlet does not evaluate one. */
export const images = (value: string): Pick<Effects, "gradient" | "picture"> | undefined => {
  let gradient: Array<Color.Color> | undefined
  let picture: "remote" | "inline" | undefined
  for (const part of Arguments.split(value, ",")) {
    const open = part.indexOf("(")
    if (part === "none" || part === "initial" || open < 0) continue
    const name = part.slice(0, open)
    const content = part.slice(open + 1, part.lastIndexOf(")"))
    if (name === "url") picture = /^["']?(?:data|cid):/.test(content) ? "inline" : (picture ?? "remote")
    else if (/^(-webkit-)?(repeating-)?(linear|radial|conic)-gradient$/.test(name)) {
      const stops = Arguments.split(content, ",").filter((stop) => !isDirection(stop) && !/^[\d.]+%$/.test(stop))
      const colors = stops.slice(0, mostStops).map((stop) => Color.parse(withoutPlaces(stop)))
      const known = colors.filter((color) => color !== undefined)
      // The prefixed form has the name of a side as its first argument.
      const isSided = name.startsWith("-webkit-") && /^(top|bottom|left|right)/.test(stops[0] ?? "")
      if (known.length < colors.length - (isSided ? 1 : 0) || stops.length > mostStops) return undefined
      gradient = [...(gradient ?? []), ...known]
    } else return undefined
  }
  return { gradient, picture }
}

const placing =
  /^(?:repeat|repeat-[xy]|no-repeat|space|round|scroll|fixed|local|border-box|padding-box|content-box|text|top|bottom|left|right|center|cover|contain|auto|none|initial|[+-]?[\d.]+(?:%|[a-z]*))$/

/** The `background` shorthand: its color and images. */
export const background = (effects: Effects, value: string): boolean => {
  if (value === "inherit") {
    effects.background = "inherit"
    return true
  }
  effects.clipsToText = /(^|\s)text(\s|$)/.test(value)
  effects.background = Color.transparent
  const drawn: Array<string> = []
  let isKnown = true
  for (const layer of Arguments.split(value, ",")) {
    for (const word of Arguments.words(layer, " /")) {
      if (placing.test(word)) continue
      const color = Color.parse(word)
      if (color !== undefined) effects.background = color
      else if (word.includes("(")) drawn.push(word)
      else isKnown = false
    }
  }
  const found = images(drawn.join(","))
  effects.gradient = found?.gradient
  effects.picture = found?.picture
  return isKnown && found !== undefined
}

/** Only filters of old versions of Internet Explorer, which browsers ignore, are evaluated. */
export const filter = (effects: Effects, value: string): boolean => {
  const isNone = /^(none$|initial$|progid:|alpha\()/.test(value)
  effects.isRaised ||= !isNone
  return isNone
}

const number = (text: string | undefined): number =>
  text === undefined ? 1 : text.endsWith("%") ? Number.parseFloat(text) / 100 : Number.parseFloat(text)

/** More scaled text may leave the window. */
export const mostScale = 3

/** Evaluates moves and scales. */
export const transform = (effects: Effects, value: string): boolean => {
  let factor = 1
  let [x, y] = [Length.ofPixels(0), Length.ofPixels(0)]
  effects.isRaised = value !== "none"
  const found = value === "none" || value === "initial" ? [] : calls(value)
  const isKnown = found?.every(([name, content]) => {
    const [first = "", second] = Arguments.split(content, ",")
    if (/^scale(x|y|3d)?$/.test(name)) {
      factor *= Math.min(Math.abs(number(first)), Math.abs(number(second)))
      return !content.includes("-")
    }
    if (!/^translate(x|y|3d)?$/.test(name)) return false
    const [right, down] = [name === "translatey" ? "0" : first, name === "translatey" ? first : (second ?? "0")].map(
      Length.parse
    )
    if (right === undefined || down === undefined) return false
    ;[x, y] = [Length.sum(x, right, 1), Length.sum(y, down, 1)]
    return true
  })
  effects.transform = Number.isNaN(factor) ? 1 : factor
  effects.movedX = x
  effects.movedY = y
  return isKnown === true && !Number.isNaN(factor) && factor <= mostScale
}

const numbersOf = (content: string) => Arguments.words(content, " ,").map((part) => Length.parse(part))

/** `rect(0 0 0 0)` of the legacy property `clip`. */
export const isEmptyRect = (value: string): boolean => {
  const [name, content] = calls(value)?.[0] ?? []
  if (name !== "rect" || content === undefined) return false
  const [top, right, bottom, left] = numbersOf(content).map((length) => length && Length.resolve(length, 16, 0))
  const isThin = (from: number | undefined, to: number | undefined) =>
    to !== undefined && (from === undefined ? to < 4 : to - from < 4)
  return isThin(top, bottom) || isThin(left, right)
}

/** Empty shapes hide text. Other shapes are not evaluated. */
export const clipPath = (effects: Effects, value: string): boolean => {
  effects.isClippedByPath = isEmptyPath(value)
  return effects.isClippedByPath || /^(none|initial|unset)$/.test(value)
}

const isEmptyPath = (value: string): boolean => {
  const [name, content = ""] = calls(value)?.[0] ?? []
  const lengths = numbersOf(content.split(/\bround\b/)[0] ?? "").map((length) => length ?? Length.ofPixels(0))
  const [first, second = first, third = first, fourth = second] = lengths
  const isWhole = (one: Length.Length | undefined, other: Length.Length | undefined) =>
    (one?.percent ?? 0) + (other?.percent ?? 0) >= 100
  return name === "inset" && (isWhole(first, third) || isWhole(second, fourth))
}
