import * as Length from "./Length.ts"
import { viewport } from "./Length.ts"

/** Media features of a desktop screen. Others are not evaluated. */
const features = new Map([
  ["orientation", "landscape"],
  ["prefers-color-scheme", "light"],
  ["prefers-reduced-motion", "no-preference"],
  ["hover", "hover"],
  ["pointer", "fine"]
])

const sizes = new Map(Object.entries({ ...viewport, "device-pixel-ratio": 1, resolution: 1 }))

const amount = (text: string): number => {
  const [, dots, unit] = /^([\d.]+)(dppx|x|dpi)$/.exec(text) ?? []
  if (dots !== undefined) return Number(dots) / (unit === "dpi" ? 96 : 1)
  const length = Length.parse(text)
  return length === undefined ? Number.NaN : Length.resolve(length, 16, 0)
}

/** True or false on a desktop, undefined if Inlet does not evaluate it. */
type Truth = boolean | undefined

const not = (truth: Truth): Truth => (truth === undefined ? undefined : !truth)

const and = (one: Truth, other: Truth): Truth =>
  one === false || other === false ? false : one === undefined || other === undefined ? undefined : true

/** Features of other rendering engines are false. */
const foreign = /^(-ms-|-moz-|min--moz-|max--moz-|-o-)/

const feature = (text: string): Truth => {
  if (foreign.test(text)) return false
  const [, bound, name = "", value] = /^(?:-webkit-)?(?:(min|max)-)?([a-z-]+)(?:: ?(.*))?$/.exec(text) ?? []
  if (features.has(name)) return value === undefined || features.get(name) === value
  const own = sizes.get(name.replace(/^device-(?!pixel)/, ""))
  const wanted = amount(value ?? "")
  if (own === undefined || Number.isNaN(wanted)) return undefined
  return bound === "min" ? own >= wanted : bound === "max" ? own <= wanted : own === wanted
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
export const holds = (text: string): Truth => {
  const words = text.slice(0, 500).toLowerCase().replace(/\s+/g, " ").trim()
  const truths = words.split(",").map((part) => query(part.trim()))
  return truths.includes(true) ? true : truths.includes(undefined) ? undefined : false
}
