import { BoundedMap } from "../../cache/BoundedMap.ts"
import * as Arguments from "./Arguments.ts"

/** A length as the sum of its dependencies. A plain number is only `number`. */
export interface Length {
  readonly px: number
  readonly em: number
  readonly percent: number
  readonly number: number
}

/** The assumed desktop window in px. */
export const viewport = { width: 1_280, height: 720 }

const nothing: Length = { px: 0, em: 0, percent: 0, number: 0 }

export const ofPixels = (px: number): Length => ({ ...nothing, px })

const pixels = { px: 1, pt: 4 / 3, pc: 16, in: 96, cm: 96 / 2.54, mm: 9.6 / 2.54, q: 2.4 / 2.54, rem: 16, rlh: 19.2 }
const ems = { em: 1, ex: 0.5, ch: 0.5, lh: 1.2 }
/** Parts of the window, which is out of sight in either direction. */
const parts = "vw vh vi vb vmin vmax svw svh lvw lvh dvw dvh".split(" ")

const units: ReadonlyMap<string, Length> = new Map([
  ["", { ...nothing, number: 1 }] as const,
  ["%", { ...nothing, percent: 1 }] as const,
  ...Object.entries(pixels).map(([unit, px]) => [unit, ofPixels(px)] as const),
  ...Object.entries(ems).map(([unit, em]) => [unit, { ...nothing, em }] as const),
  ...parts.map((unit) => [unit, ofPixels(viewport.width / 100)] as const)
])

/** Resolves to px for a given em and whole. */
export const resolve = ({ em, number, percent, px }: Length, ems: number, whole: number): number =>
  px + number + em * ems + (percent / 100) * whole

const sum = (one: Length, other: Length, sign: number): Length => ({
  px: one.px + sign * other.px,
  em: one.em + sign * other.em,
  percent: one.percent + sign * other.percent,
  number: one.number + sign * other.number
})

const times = (length: Length, factor: number): Length => ({
  px: length.px * factor,
  em: length.em * factor,
  percent: length.percent * factor,
  number: length.number * factor
})

const simple = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?)([a-z]*|%)$/

/** Short lengths, of which mails have few. So short a substring does not retain its mail. */
const known = new BoundedMap<string, Length | "none">(500)
const longestKnown = 8

/** Undefined if it is not a length. */
export const parse = (text: string): Length | undefined => {
  if (text.length > longestKnown) return read(text)
  const found = known.get(text)
  if (found !== undefined) return found === "none" ? undefined : found
  const length = read(text)
  known.set(text, length ?? "none")
  return length
}

const read = (text: string): Length | undefined => {
  const match = simple.exec(text)
  if (match !== null) {
    const unit = units.get(match[2] ?? "")
    const count = Number(match[1])
    return unit === undefined || !Number.isFinite(count) ? undefined : times(unit, count)
  }
  return text.length <= 200 && text.endsWith(")") ? functional(text) : undefined
}

const isNumber = ({ em, percent, px }: Length) => px === 0 && em === 0 && percent === 0

/** Compares lengths, one of which depends on unknown values. */
const rough = (length: Length) => resolve(length, 16, 160)

const functional = (text: string): Length | undefined => {
  const open = text.indexOf("(")
  if (open < 0 || !text.endsWith(")")) return undefined
  const parts = Arguments.split(text.slice(open + 1, -1).replace(/[*/]/g, " $& "), ",")
  const values = parts.flatMap((part) => calculated(Arguments.words(part, " ")) ?? [])
  if (values.length < parts.length) return undefined
  const sorted = values.toSorted((one, other) => rough(one) - rough(other))
  const name = text.slice(0, open)
  if (name === "min" || name === "max") return sorted.at(name === "min" ? 0 : -1)
  return /^(?:(?:-webkit-)?calc)?$/.test(name) && values.length === 1 ? values[0] : undefined
}

/** Evaluates operands and the operators between them, the last sum first. A function or brackets are one token. */
const calculated = (tokens: ReadonlyArray<string>): Length | undefined => {
  const [only = ""] = tokens
  if (tokens.length <= 1) return simple.test(only) ? parse(only) : functional(only)
  const last = tokens.findLastIndex((token) => token === "+" || token === "-")
  const at = last > 0 ? last : tokens.findLastIndex((token) => token === "*" || token === "/")
  const [one, other] = at > 0 ? [calculated(tokens.slice(0, at)), calculated(tokens.slice(at + 1))] : []
  if (one === undefined || other === undefined) return undefined
  switch (tokens[at]) {
    case "*":
      return isNumber(one) ? times(other, one.number) : isNumber(other) ? times(one, other.number) : undefined
    case "/":
      return isNumber(other) && other.number !== 0 ? times(one, 1 / other.number) : undefined
    default:
      return sum(one, other, tokens[at] === "+" ? 1 : -1)
  }
}
