import type { Declaration } from "./Declarations.ts"
import { counts } from "./Declarations.ts"
import { isHarmlessAs } from "./HarmlessProperties.ts"

/** The maximum length of a value. Longer ones are image URLs. */
const longestValue = 500

const [quote, apostrophe, star, slash, backslash] = [34, 39, 42, 47, 92]
const opening: Readonly<Record<number, number>> = { 40: 41, 91: 93, 123: 125 }

/** Characters with a special meaning. */
const special = Uint8Array.from({ length: 128 }, (_, code) =>
  "\"'/\\()[]{};,".includes(String.fromCharCode(code)) ? 1 : 0
)

/** The position after a comment, string or escape at `at`, else `at` itself. */
const behindOpaque = (css: string, at: number): number => {
  const code = css.charCodeAt(at)
  if (code === backslash) return at + 2
  if (code === slash && css.charCodeAt(at + 1) === star) {
    const end = css.indexOf("*/", at + 2)
    return end < 0 ? css.length : end + 2
  }
  if (code !== quote && code !== apostrophe) return at
  for (let end = at + 1; end < css.length; end++) {
    const inside = css.charCodeAt(end)
    if (inside === code) return end + 1
    // An unterminated string ends at the end of its line.
    if (inside === 10) return end
    if (inside === backslash) end++
  }
  return css.length
}

/** The position of the first of these characters outside of strings, comments and brackets, or the end. */
export const find = (css: string, from: number, end: number, stops: string): number => {
  /** The expected closing brackets. Deeper ones are not distinguished. */
  const closing: Array<number> = []
  let at = from
  while (at < end) {
    const code = css.charCodeAt(at)
    if (code > 127 || special[code] === 0) {
      at++
      continue
    }
    if (closing.length === 0 && stops.includes(css[at] ?? "")) return at
    const behind = behindOpaque(css, at)
    if (behind > at) {
      at = behind
      continue
    }
    const close = opening[code]
    if (close !== undefined) closing.push(close)
    else if (closing.length > 0 && code === closing[closing.length - 1]) closing.pop()
    at++
  }
  return end
}

/** A URL, of which only the scheme counts. Each attempt ends at the next bracket or quote, so a search is linear. */
const address = /url\( ?(?:"(data:)?[^"]*"|'(data:)?[^']*'|(data:)?[^()"' ]*) ?\)/gi

/** Removes comments, decodes escapes, lowers case and collapses whitespace. */
const plain = (text: string, keepsCase: boolean): string => {
  let value = text.includes("/*") ? text.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, " ") : text
  if (value.includes("\\")) value = unescaped(value)
  value = value.trim()
  if (/[\t\n\r\f]| {2}/.test(value)) value = value.replace(/\s+/g, " ")
  if (value.length > longestValue)
    value = value.replace(address, (_, one = "", two = "", three = "") => `url(${one}${two}${three})`)
  // Cut values are not evaluated.
  if (value.length > longestValue) value = `${value.slice(0, longestValue)}?`
  return keepsCase ? value : value.toLowerCase()
}

/** `dis\70 lay` becomes `display`. */
export const unescaped = (text: string): string =>
  text.replace(/\\(?:([\da-f]{1,6})\s?|(\n)|([\s\S]))/gi, (_, digits?: string, feed?: string, other?: string) => {
    if (digits === undefined) return feed === undefined ? (other ?? "") : ""
    const code = Number.parseInt(digits, 16)
    return code === 0 || code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code)
  })

const declaration = (css: string, start: number, colon: number, end: number): Declaration | undefined => {
  const name = css.slice(start, colon).trim()
  const property = /^[\w-]+$/.test(name) ? name : plain(name, true)
  const isCustom = property.startsWith("--")
  const folded = isCustom ? property : property.toLowerCase()
  if (!counts(folded)) return undefined
  const value = plain(css.slice(colon + 1, end), isCustom)
  const match = value.includes("!") ? /\s*!\s*important$/i.exec(value) : null
  const bare = match === null ? value : value.slice(0, match.index)
  return isHarmlessAs(folded, bare) ? undefined : { property: folded, value: bare, isImportant: match !== null }
}

/** The relevant declarations of a `style` attribute or a rule's block. */
export const declarations = (css: string): ReadonlyArray<Declaration> => {
  const found: Array<Declaration> = []
  const isSimple = !/["'(/\\{[]/.test(css)
  // Searched once if many declarations have none.
  let colon = css.indexOf(":")
  for (let at = 0; at < css.length && colon >= 0; ) {
    const semicolon = isSimple ? css.indexOf(";", at) : find(css, at, css.length, ";")
    const end = semicolon < 0 ? css.length : semicolon
    if (colon < at) colon = css.indexOf(":", at)
    const one = colon < 0 || colon >= end ? undefined : declaration(css, at, colon, end)
    if (one !== undefined) found.push(one)
    at = end + 1
  }
  return found
}

/** A rule of a style sheet. */
export interface Block {
  readonly prelude: string
  readonly start: number
  readonly end: number
}

/** The rules between two positions, in order. */
export function* blocks(css: string, from: number, end: number): Generator<Block> {
  for (let at = from; at < end; ) {
    const open = find(css, at, end, "{;")
    // `;` ends a statement such as @import. In the prelude of a rule it is an error that does not end it.
    const head = css
      .slice(at, open)
      .replace(/<!--|-->/g, "")
      .trimStart()
    if (css[open] !== "{") {
      if (head.startsWith("@") || open >= end) {
        at = open + 1
        continue
      }
    }
    const block = css[open] === "{" ? open : find(css, open + 1, end, "{")
    const close = css[block] === "{" ? find(css, block + 1, end, "}") : end
    yield { prelude: css.slice(at, block).replace(/<!--|-->/g, ""), start: Math.min(block + 1, end), end: close }
    at = close + 1
  }
}

/** A prelude without comments and surplus whitespace, in its original case. A comment is no space. */
export const prelude = (text: string): string =>
  (text.includes("/*") ? text.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, "") : text).trim()
