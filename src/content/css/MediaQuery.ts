import * as Length from "./Length.ts"
import { viewport } from "./Length.ts"

/** Media features of a desktop screen. Others are false. */
const features: Readonly<Record<string, string>> = {
  orientation: "landscape",
  "prefers-color-scheme": "light",
  "prefers-reduced-motion": "no-preference",
  "prefers-contrast": "no-preference",
  hover: "hover",
  "any-hover": "hover",
  pointer: "fine",
  "any-pointer": "fine",
  scripting: "none",
  "display-mode": "browser"
}

const sizes: Readonly<Record<string, number>> = {
  width: viewport.width,
  height: viewport.height,
  "device-width": viewport.width,
  "device-height": viewport.height,
  "device-pixel-ratio": 1,
  resolution: 1,
  "aspect-ratio": viewport.width / viewport.height,
  color: 8,
  monochrome: 0
}

const amount = (text: string): number => {
  const ratio = /^(\d+)\s*\/\s*(\d+)$/.exec(text)
  if (ratio !== null) return Number(ratio[1]) / Number(ratio[2])
  const dots = /^([\d.]+)(dppx|x|dpi|dpcm)$/.exec(text)
  if (dots !== null) return Number(dots[1]) / (dots[2] === "dpi" ? 96 : dots[2] === "dpcm" ? 96 / 2.54 : 1)
  const length = Length.parse(text)
  return length === undefined ? Number.NaN : Length.resolve(length, 16, 0)
}

const compare = (one: number, operator: string, other: number): boolean => {
  if (operator === "<") return one < other
  if (operator === "<=") return one <= other
  if (operator === ">") return one > other
  return operator === ">=" ? one >= other : one === other
}

const feature = (text: string): boolean => {
  const range = /^(?:([^<>=]+?)\s*([<>]=?|=)\s*)?([a-z-]+)(?:\s*([<>]=?|=)\s*([^<>=]+))?$/.exec(text)
  if (range !== null && !text.includes(":") && (range[2] !== undefined || range[4] !== undefined)) {
    const own = sizes[range[3] ?? ""]
    if (own === undefined) return false
    const isBelow = range[2] === undefined || compare(amount(range[1] ?? ""), range[2], own)
    return isBelow && (range[4] === undefined || compare(own, range[4], amount(range[5] ?? "")))
  }
  const [name = "", value] = text.split(":").map((part) => part.trim())
  const plain = name.replace(/^-webkit-/, "")
  if (value === undefined) return (sizes[plain] ?? 0) > 0 || features[plain] !== undefined
  const isLeast = /^min-|^-webkit-min-/.test(name)
  const isMost = /^max-|^-webkit-max-/.test(name)
  const own = sizes[plain.replace(/^(min|max)-/, "")]
  if (own === undefined) return features[plain] === value
  if (isLeast) return own >= amount(value)
  return isMost ? own <= amount(value) : own === amount(value)
}

/** Conditions in brackets, joined by `and` and `or`, with optional `not`. */
const condition = (text: string, depth: number): boolean => {
  if (depth > 4) return false
  let result: boolean | undefined
  let isOr = false
  let isNot = false
  for (const part of words(text)) {
    if (part === "and" || part === "only") isOr = false
    else if (part === "or") isOr = true
    else if (part === "not") isNot = true
    else {
      const holds = part.startsWith("(")
        ? bracket(part.slice(1, -1).trim(), depth)
        : part === "screen" || part === "all"
      result = result === undefined ? holds !== isNot : isOr ? result || holds !== isNot : result && holds !== isNot
      isNot = false
    }
  }
  return result ?? true
}

const bracket = (text: string, depth: number) =>
  text.startsWith("(") || text.startsWith("not") ? condition(text, depth + 1) : feature(text)

/** Splits into words and brackets. */
const words = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let depth = 0
  let word = ""
  for (const character of text) {
    if (depth === 0 && (character === " " || character === "(") && word !== "") {
      found.push(word)
      word = ""
    }
    if (character === "(") depth++
    if (depth > 0 || character !== " ") word += character
    if (character === ")" && --depth === 0) {
      found.push(word)
      word = ""
    }
  }
  return word === "" ? found : [...found, word]
}

/** `not screen and (…)` negates the whole condition. */
const query = (text: string): boolean => {
  const denied = /^not\s+([a-z].*)$/.exec(text)
  return denied === null ? condition(text, 0) : !condition(denied[1] ?? "", 0)
}

/** Whether a media query matches a mail on a desktop. */
export const holds = (text: string): boolean => {
  const queries = text
    .slice(0, 500)
    .toLowerCase()
    .replace(/\s+/g, " ")
    .split(",")
    .map((part) => part.trim())
  return queries.some(query)
}
