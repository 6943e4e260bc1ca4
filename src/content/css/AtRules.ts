import * as MediaQuery from "./MediaQuery.ts"

/** At-rules without style rules. */
const silent =
  /^(?:-\w+-)?(?:keyframes|page|charset|font-feature-values|font-palette-values|position-try|view-transition|viewport|color-profile|document|function)$/

/** Descriptors of a font that is loaded or installed, and that changes no sizes. */
const plainFont =
  /^(?:font-family|font-style|font-weight|font-stretch|font-display|font-variant|unicode-range|src|panose-1|mso-.*)$/

const isPlainFont = (body: string): boolean => {
  const names = body
    .replace(/\/\*[\s\S]*?(?:\*\/|$)|"[^"]*"|'[^']*'|\([^()]*\)/g, "")
    .split(";")
    .map((part) => part.split(":")[0]?.trim().toLowerCase() ?? "")
  return names.every((name) => name === "" || plainFont.test(name)) && !/url\(\s*["']?(?:data|cid):/i.test(body)
}

/**
 * Whether the rules inside an at-rule apply: yes, no, unknown (undefined), or `unreadable` if it can hide any text of
 * the mail by itself, such as a font without glyphs, or change what it says, such as list markers of its own.
 */
export const applies = (name: string, condition: string, body: string): boolean | undefined | "unreadable" => {
  if (name === "media") return MediaQuery.holds(condition)
  if (name === "font-face") return isPlainFont(body) ? false : "unreadable"
  if (name === "property" || name === "counter-style") return "unreadable"
  return silent.test(name) ? false : undefined
}
