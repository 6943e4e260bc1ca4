import * as Length from "./Length.ts"
import { viewport } from "./Length.ts"

/** Media features of a desktop screen. */
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
  "display-mode": "browser",
  "forced-colors": "none",
  "inverted-colors": "none",
  update: "fast",
  grid: "0"
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

/** True or false on a desktop, undefined if Inlet does not evaluate it. */
type Truth = boolean | undefined

const not = (truth: Truth): Truth => (truth === undefined ? undefined : !truth)

const and = (one: Truth, other: Truth): Truth =>
  one === false || other === false ? false : one === undefined || other === undefined ? undefined : true

const or = (one: Truth, other: Truth): Truth => not(and(not(one), not(other)))

/** Features of other rendering engines are false. */
const foreign = /^(-ms-|-moz-|min--moz-|max--moz-|-o-)/

const feature = (text: string): Truth => {
  const [name = "", value] = text.split(":").map((part) => part.trim())
  if (foreign.test(name)) return false
  const plain = name.replace(/^-webkit-/, "").replace(/^(min|max)-/, "")
  const own = sizes[plain]
  if (own === undefined) {
    const found = features[plain]
    return found === undefined ? undefined : value === undefined ? found !== "none" : found === value
  }
  if (value === undefined) return own > 0
  const wanted = amount(value)
  if (Number.isNaN(wanted)) return undefined
  if (/^(-webkit-)?min-/.test(name)) return own >= wanted
  return /^(-webkit-)?max-/.test(name) ? own <= wanted : own === wanted
}

/** A type such as `screen`, or a feature in brackets. */
const part = (text: string): Truth => {
  const content = /^\(([^()]*)\)$/.exec(text)?.[1]
  if (content !== undefined) return feature(content.trim())
  return /^[a-z-]+$/.test(text) ? text === "screen" || text === "all" : undefined
}

/** Types and features joined by `and`. `not screen and (…)` negates the whole. */
const query = (text: string): Truth => {
  const isNot = text.startsWith("not ")
  const parts = text.replace(/^(?:only|not) /, "").split(/ ?\band\b ?/)
  if (isNot && parts.length > 1 && parts[0]?.startsWith("(") === true) return undefined
  const truth = parts.map((one) => part(one.trim())).reduce(and, true)
  return isNot ? not(truth) : truth
}

/** Whether a media query matches a mail on a desktop. Undefined if Inlet does not evaluate it. */
export const holds = (text: string): Truth =>
  text
    .slice(0, 500)
    .toLowerCase()
    .replace(/\s+/g, " ")
    .trim()
    .split(",")
    .map((part) => query(part.trim()))
    .reduce(or, false)
