import * as Length from "../css/Length.ts"
import type { Tag } from "./HtmlTokens.ts"

/** Types of an input that shows its value. */
const fieldTypes = /^(?:text|search|url|tel|email|number|button|submit|reset|)$/i

/** The value that a person sees in an input, or empty. */
export const valueOf = (tokens: Tag): string =>
  fieldTypes.test(tokens.attribute("type")?.trim() ?? "") ? (tokens.attribute("value") ?? "") : ""

/** `<meta name="color-scheme" content="dark">` */
export const isDark = (tokens: Tag) => {
  const [name = "", content = ""] = [tokens.attribute("name"), tokens.attribute("content")]
  return name.trim().toLowerCase() === "color-scheme" && /dark/i.test(content) && !/light/i.test(content)
}

/** The size of an image from its attribute. */
export const sizeOf = (value: string | undefined): Length.Length | undefined => {
  const match = value === undefined ? null : /^\s*(\d{1,6}(?:\.\d*)?)(%?)/.exec(value)
  if (match === null) return undefined
  return match[2] === "%" ? undefined : Length.ofPixels(Number(match[1]))
}
