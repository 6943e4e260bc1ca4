import { named } from "./NamedColors.ts"

/** Red, green, blue and alpha in one byte each, red the highest. */
export type Color = number

export const white: Color = 0xffffffff
export const black: Color = 0x000000ff
export const transparent: Color = 0x00000000

const clamp = (value: number) => Math.max(0, Math.min(255, Math.round(value)))

const packed = (red: number, green: number, blue: number, alpha = 255): Color =>
  ((clamp(red) << 24) | (clamp(green) << 16) | (clamp(blue) << 8) | clamp(alpha)) >>> 0

export const alphaOf = (color: Color): number => color & 255

/** Parses a CSS color, given in lower case. Undefined if invalid or unknown. */
export const parse = (text: string): Color | undefined => {
  const value = text.trim()
  if (value.startsWith("#")) return hex(value.slice(1))
  const open = value.indexOf("(")
  if (open < 0) return named.get(value)
  if (!value.endsWith(")") || value.length > 300) return undefined
  return functional(value.slice(0, open), value.slice(open + 1, -1))
}

const hex = (digits: string): Color | undefined => {
  if (!/^[\da-f]+$/i.test(digits)) return undefined
  const long = digits.length <= 4 ? digits.replace(/./g, "$&$&") : digits
  if (long.length === 6) return Number.parseInt(`${long}ff`, 16)
  return long.length === 8 ? Number.parseInt(long, 16) : undefined
}

/** A number, or a percentage of `whole`. */
const amount = (text: string, whole: number): number =>
  text.endsWith("%") ? (Number.parseFloat(text) / 100) * whole : Number(text)

/** Other functions than `rgb` are not evaluated. */
const functional = (name: string, content: string): Color | undefined => {
  const parts = content.split(/[\s,/]+/).filter((part) => part !== "")
  const [red = 0, green = 0, blue, alpha = 1] = parts.map((part, index) => amount(part, index < 3 ? 255 : 1))
  if (!/^rgba?$/.test(name) || blue === undefined || parts.length > 4) return undefined
  return [red, green, blue, alpha].some(Number.isNaN) ? undefined : packed(red, green, blue, alpha * 255)
}

/**
 * Parses the color of a legacy attribute such as `bgcolor`, where any text is a color (the standard's rules for
 * parsing a legacy color).
 */
export const legacy = (text: string): Color | undefined => {
  const value = text.trim().toLowerCase()
  if (value === "" || value === "transparent") return undefined
  const known = named.get(value)
  if (known !== undefined) return known
  if (/^#[\da-f]{3}$/.test(value)) return hex(value.slice(1))
  let digits = value
    .slice(0, 128)
    .replace(/^#/, "")
    .replace(/[^\da-f]/g, "0")
  while (digits.length === 0 || digits.length % 3 !== 0) digits += "0"
  const length = digits.length / 3
  const channels = [0, 1, 2].map((index) => digits.slice(index * length, (index + 1) * length).slice(-8))
  while ((channels[0]?.length ?? 0) > 2 && channels.every((channel) => channel.startsWith("0"))) {
    for (const index of [0, 1, 2]) channels[index] = channels[index]?.slice(1) ?? ""
  }
  const [red, green, blue] = channels.map((channel) => Number.parseInt(channel.slice(0, 2), 16))
  return packed(red ?? 0, green ?? 0, blue ?? 0)
}

/** Blends a color over another. */
export const over = (color: Color, behind: Color): Color => {
  const alpha = alphaOf(color)
  if (alpha === 255) return color
  const channel = (shift: number) =>
    (((color >>> shift) & 255) * alpha + ((behind >>> shift) & 255) * (255 - alpha)) / 255
  return packed(channel(24), channel(16), channel(8))
}

const linear = Float64Array.from({ length: 256 }, (_, byte) => {
  const value = byte / 255
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
})

const luminance = (color: Color) =>
  0.2126 * (linear[(color >>> 24) & 255] ?? 0) +
  0.7152 * (linear[(color >>> 16) & 255] ?? 0) +
  0.0722 * (linear[(color >>> 8) & 255] ?? 0)

/** The contrast ratio from 1, equal, to 21 (WCAG 2). */
export const contrast = (one: Color, other: Color): number => {
  const [first, second] = [luminance(one), luminance(other)]
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05)
}
