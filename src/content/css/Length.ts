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

const units: Readonly<Record<string, Length>> = (() => {
  const px = (value: number): Length => ({ px: value, em: 0, percent: 0, number: 0 })
  const em = (value: number): Length => ({ px: 0, em: value, percent: 0, number: 0 })
  // A whole window is out of sight in either direction.
  const wide = viewport.width / 100
  const high = wide
  return {
    "": { px: 0, em: 0, percent: 0, number: 1 },
    "%": { px: 0, em: 0, percent: 1, number: 0 },
    px: px(1),
    pt: px(4 / 3),
    pc: px(16),
    in: px(96),
    cm: px(96 / 2.54),
    mm: px(9.6 / 2.54),
    q: px(2.4 / 2.54),
    rem: px(16),
    em: em(1),
    ex: em(0.5),
    ch: em(0.5),
    lh: em(1.2),
    rlh: px(19.2),
    vw: px(wide),
    svw: px(wide),
    lvw: px(wide),
    dvw: px(wide),
    vi: px(wide),
    vmax: px(wide),
    vh: px(high),
    svh: px(high),
    lvh: px(high),
    dvh: px(high),
    vb: px(high),
    vmin: px(high)
  }
})()

export const ofPixels = (px: number): Length => ({ px, em: 0, percent: 0, number: 0 })

/** Resolves to px for a given em and whole. */
export const resolve = ({ em, number, percent, px }: Length, ems: number, whole: number): number =>
  px + number + em * ems + (percent / 100) * whole

/** Adds a length, or subtracts it if `sign` is -1. */
export const sum = (one: Length, other: Length, sign: number): Length => ({
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
    const unit = units[match[2] ?? ""]
    return unit === undefined ? undefined : times(unit, Number(match[1]))
  }
  return text.length <= 200 && text.endsWith(")") ? functional(text, 0) : undefined
}

/** Compares lengths, one of which depends on unknown values. */
const rough = (length: Length) => resolve(length, 16, 160)

const functional = (text: string, depth: number): Length | undefined => {
  const open = text.indexOf("(")
  const name = text.slice(0, open)
  if (depth > 8 || open < 0 || !text.endsWith(")")) return undefined
  const content = text.slice(open + 1, -1)
  if (name === "" || name === "calc" || name === "-webkit-calc") return calculated(content, depth)
  const values = Arguments.split(content, ",").map((part) => calculated(part, depth))
  const known = values.filter((value) => value !== undefined)
  const [first, second, third] = known
  if (first === undefined || known.length !== values.length) return undefined
  const least = (one: Length, other: Length) => (rough(other) < rough(one) ? other : one)
  const most = (one: Length, other: Length) => (rough(other) > rough(one) ? other : one)
  if (name === "min") return known.reduce(least)
  if (name === "max") return known.reduce(most)
  if (name === "clamp" && second !== undefined && third !== undefined) return most(first, least(second, third))
  return undefined
}

/** Sums and products, left to right, products first. */
const calculated = (content: string, depth: number): Length | undefined => {
  // Operands and operators, with brackets as one token.
  const tokens = Arguments.words(content.replace(/[*/]/g, " $& "), " \t\n\r\f")
  if (tokens.length % 2 === 0) return undefined
  let total: Length | undefined
  let sign = 1
  let product: Length | undefined
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] ?? ""
    if (index % 2 === 0) {
      const match = simple.exec(token)
      const value = match !== null ? parse(token) : functional(token, depth + 1)
      if (value === undefined) return undefined
      const operator = tokens[index - 1]
      if (product === undefined || operator === "+" || operator === "-") product = value
      else if (operator === "/") product = times(product, 1 / value.number)
      else
        product = value.number !== 0 || rough(value) === 0 ? times(product, value.number) : times(value, product.number)
    } else if (token === "+" || token === "-") {
      total = total === undefined ? product : sum(total, product ?? ofPixels(0), sign)
      sign = token === "+" ? 1 : -1
    } else if (token !== "*" && token !== "/") return undefined
  }
  if (product === undefined) return undefined
  return total === undefined ? product : sum(total, product, sign)
}
