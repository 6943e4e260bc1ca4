import * as Color from "./Color.ts"
import { type Effects, far, farBack } from "./Effects.ts"
import * as Length from "./Length.ts"

/** Function calls in a value with their arguments, up to 32. */
const calls = (value: string): ReadonlyArray<readonly [string, string]> => {
  const found: Array<readonly [string, string]> = []
  let at = 0
  while (found.length < 32) {
    const open = value.indexOf("(", at)
    if (open < 0) break
    let depth = 1
    let end = open + 1
    while (end < value.length && depth > 0) {
      const code = value.charCodeAt(end++)
      if (code === 40) depth++
      else if (code === 41) depth--
    }
    found.push([/[\w-]*$/.exec(value.slice(Math.max(at, open - 40), open))?.[0] ?? "", value.slice(open + 1, end - 1)])
    at = end
  }
  return found
}

/** A gradient stop without its positions: `red 10% 20%` is red. */
const withoutPlaces = (stop: string): string => {
  const words = stop.split(/\s+/)
  while (words.length > 1 && /^[+-]?[\d.]+(%|[a-z]+)$/.test(words.at(-1) ?? "")) words.pop()
  return words.join(" ")
}

/** The colors of a gradient, or undefined. */
export const gradient = (value: string): ReadonlyArray<Color.Color> | undefined => {
  if (!value.includes("gradient(")) return undefined
  const colors: Array<Color.Color> = []
  for (const [name, content] of calls(value)) {
    if (!name.endsWith("gradient")) continue
    for (const stop of Color.splitArguments(content).slice(0, 16)) {
      const color = Color.parse(withoutPlaces(stop)) ?? Color.parse(/(#\w+|(?<![a-z])[a-z]+)\)?$/.exec(stop)?.[1] ?? "")
      if (color !== undefined) colors.push(color)
    }
    break
  }
  return colors.length === 0 ? undefined : colors.slice(0, 4)
}

/** The `background` shorthand: its color and gradient only. */
export const background = (effects: Effects, value: string): void => {
  if (value === "inherit") {
    effects.background = "inherit"
    return
  }
  effects.gradient = gradient(value)
  effects.clipsToText = /(^|\s)text(\s|$)/.test(value)
  effects.background = Color.transparent
  const last = Color.splitArguments(value).at(-1) ?? ""
  let depth = 0
  let start = 0
  for (let at = 0; at <= last.length; at++) {
    const character = last[at] ?? " "
    if (character === "(") depth++
    else if (character === ")") depth--
    else if (depth === 0 && (character === " " || character === "\n" || character === "\t" || character === "/")) {
      const color = at === start ? undefined : Color.parse(last.slice(start, at))
      if (color !== undefined) effects.background = color
      start = at + 1
    }
  }
}

/** Moved out of sight. */
export const isFar = (parts: ReadonlyArray<string>): boolean =>
  parts.some((part) => {
    const length = Length.parse(part.trim())
    if (length === undefined) return false
    const pixels = Length.resolve(length, 16, 0)
    return pixels > far || pixels < -farBack || Math.abs(length.percent) >= 500
  })

/** The remaining fraction of a side after a rotation. */
export const turned = (angle: string): number => {
  const value = Number.parseFloat(angle)
  const perTurn = angle.endsWith("turn") ? 1 : angle.endsWith("grad") ? 400 : angle.endsWith("rad") ? 2 * Math.PI : 360
  return Math.abs(Math.cos((value / perTurn) * 2 * Math.PI))
}

/** Checks for a blur that makes text unreadable. */
export const isBlurred = (value: string): boolean =>
  calls(value).some(([name, content]) => name === "blur" && (Length.parse(content.trim())?.px ?? 0) >= 10)

export const transform = (effects: Effects, value: string): void => {
  let factor = 1
  let isMoved = false
  for (const [name, content] of calls(value)) {
    const parts = Color.splitArguments(content)
    const numbers = parts.map((part) => (part.endsWith("%") ? Number.parseFloat(part) / 100 : Number.parseFloat(part)))
    const [one = 1, two = name === "scale" ? one : 1] = numbers
    if (name === "scale" || name === "scale3d") factor *= Math.min(Math.abs(one), Math.abs(two))
    else if (name === "scalex" || name === "scaley") factor *= Math.abs(one)
    else if (name.startsWith("translate")) isMoved ||= isFar(parts)
    else if (name === "matrix") {
      const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = numbers
      factor *= Math.sqrt(Math.abs(a * d - b * c))
      isMoved ||= Math.max(x, y) > far || Math.min(x, y) < -farBack
    } else if (name === "matrix3d") {
      const [a = 1, b = 0, , , c = 0, d = 1] = numbers
      factor *= Math.sqrt(Math.abs(a * d - b * c))
      const [x = 0, y = 0] = numbers.slice(12, 14)
      isMoved ||= Math.max(x, y) > far || Math.min(x, y) < -farBack
    } else if (name === "rotatex" || name === "rotatey") {
      factor *= turned(content)
    }
  }
  effects.transform = Number.isNaN(factor) ? 1 : factor
  effects.isMoved = isMoved
}

const numbersOf = (content: string) =>
  content
    .split(/[\s,]+/)
    .filter((part) => part !== "")
    .map((part) => Length.parse(part))

/** `rect(0 0 0 0)` of the legacy property `clip`. */
export const isEmptyRect = (value: string): boolean => {
  const [call] = calls(value)
  if (call === undefined || call[0] !== "rect") return false
  const [top, right, bottom, left] = numbersOf(call[1]).map((length) => length && Length.resolve(length, 16, 0))
  const isThin = (from: number | undefined, to: number | undefined) =>
    to !== undefined && (from === undefined ? to < 4 : to - from < 4)
  return isThin(top, bottom) || isThin(left, right)
}

const isWhole = (one: Length.Length | undefined, other: Length.Length | undefined) =>
  (one?.percent ?? 0) + (other?.percent ?? 0) >= 100 || Math.max(one?.px ?? 0, other?.px ?? 0) > 1_000

export const isEmptyPath = (value: string): boolean => {
  const [call] = calls(value)
  if (call === undefined) return false
  const [name, content] = call
  const lengths = numbersOf(content.split(/\bat\b|\bround\b/)[0] ?? "")
  switch (name) {
    case "inset": {
      const [top, right = top, bottom = top, left = right] = lengths
      return isWhole(top, bottom) || isWhole(left, right)
    }
    case "circle":
    case "ellipse":
      return lengths.some((length) => length !== undefined && Length.resolve(length, 16, 400) < 2)
    case "polygon": {
      const known = lengths.map((length) => (length === undefined ? Number.NaN : Length.resolve(length, 16, 400)))
      const spread = (axis: number) => {
        const values = known.filter((_, index) => index % 2 === axis)
        return values.length === 0 ? 0 : Math.max(...values.slice(0, 64)) - Math.min(...values.slice(0, 64))
      }
      return spread(0) < 2 || spread(1) < 2
    }
    case "rect":
      return isEmptyRect(value)
    case "xywh":
      return lengths.slice(2, 4).some((length) => length !== undefined && Length.resolve(length, 16, 400) < 2)
    case "path":
      return !/\d/.test(content)
    default:
      return false
  }
}
