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

/** A number, a percentage of `whole`, an angle in degrees, or `none`. */
const amount = (text: string | undefined, whole: number): number => {
  if (text === undefined || text === "none") return 0
  const value = Number.parseFloat(text)
  if (text.endsWith("%")) return (value / 100) * whole
  if (text.endsWith("grad")) return value * 0.9
  if (text.endsWith("rad")) return (value * 180) / Math.PI
  return text.endsWith("turn") ? value * 360 : value
}

const functional = (name: string, content: string): Color | undefined => {
  if (name === "color-mix") return mixed(content)
  if (name === "light-dark") return parse(splitArguments(content)[0] ?? "")
  if (content.includes("(")) return undefined
  const parts = content.split(/[\s,/]+/).filter((part) => part !== "")
  const [first = "", ...rest] = parts
  const values = name === "color" ? rest : parts
  const [one, two, three, alpha] = values
  if (three === undefined || values.some((value) => Number.isNaN(amount(value, 1)))) return undefined
  const opacity = alpha === undefined ? 255 : amount(alpha, 1) * 255
  switch (name) {
    case "rgb":
    case "rgba":
      return packed(amount(one, 255), amount(two, 255), amount(three, 255), opacity)
    case "hsl":
    case "hsla":
      return hsl(amount(one, 360), amount(two, 100) / 100, amount(three, 100) / 100, opacity)
    case "hwb":
      return hwb(amount(one, 360), amount(two, 100) / 100, amount(three, 100) / 100, opacity)
    case "lab":
    case "lch":
      return gray((amount(one, 100) + 16) / 116, opacity)
    case "oklab":
    case "oklch":
      return gray(amount(one, 1), opacity)
    case "color":
      return first === ""
        ? undefined
        : packed(amount(one, 1) * 255, amount(two, 1) * 255, amount(three, 1) * 255, opacity)
    default:
      return undefined
  }
}

/** Converts by lightness only, the cube root of luminance, which determines contrast. */
const gray = (lightness: number, opacity: number): Color => {
  const luminance = Math.max(0, lightness) ** 3
  const value = luminance <= 0.0031308 ? luminance * 12.92 : 1.055 * luminance ** (1 / 2.4) - 0.055
  return packed(value * 255, value * 255, value * 255, opacity)
}

const hsl = (hue: number, saturation: number, lightness: number, opacity: number): Color => {
  const channel = (offset: number) => {
    const at = (((offset + hue / 30) % 12) + 12) % 12
    const reach = saturation * Math.min(lightness, 1 - lightness)
    return 255 * (lightness - reach * Math.max(-1, Math.min(at - 3, 9 - at, 1)))
  }
  return packed(channel(0), channel(8), channel(4), opacity)
}

const hwb = (hue: number, whiteness: number, blackness: number, opacity: number): Color => {
  const sum = whiteness + blackness
  if (sum >= 1) return packed((255 * whiteness) / sum, (255 * whiteness) / sum, (255 * whiteness) / sum, opacity)
  const pure = hsl(hue, 1, 0.5, 255)
  const channel = (shift: number) => ((pure >>> shift) & 255) * (1 - sum) + 255 * whiteness
  return packed(channel(24), channel(16), channel(8), opacity)
}

/** `in srgb, red 20%, white`. Other color spaces are treated as sRGB. */
const mixed = (content: string): Color | undefined => {
  const [, first = "", second = ""] = splitArguments(content)
  const share = (part: string) => /(?<![\d.])([\d.]+)%/.exec(part)?.[1]
  const one = parse(first.replace(/\s*(?<![\d.])[\d.]+%\s*/, ""))
  const other = parse(second.replace(/\s*(?<![\d.])[\d.]+%\s*/, ""))
  if (one === undefined || other === undefined) return undefined
  const [own, others] = [share(first), share(second)]
  const weight = own !== undefined ? Number(own) / 100 : others !== undefined ? 1 - Number(others) / 100 : 0.5
  const channel = (shift: number) => ((one >>> shift) & 255) * weight + ((other >>> shift) & 255) * (1 - weight)
  return packed(channel(24), channel(16), channel(8), channel(0))
}

/** Splits arguments at commas outside of nested brackets. */
export const splitArguments = (content: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let depth = 0
  let start = 0
  for (let at = 0; at < content.length; at++) {
    const character = content[at]
    if (character === "(") depth++
    else if (character === ")") depth--
    else if (character === "," && depth === 0) {
      parts.push(content.slice(start, at).trim())
      start = at + 1
    }
  }
  parts.push(content.slice(start).trim())
  return parts
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
