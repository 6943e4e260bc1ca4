import * as QuoteMarks from "./QuoteMarks.ts"

/** What a mail program marks. A `head` is above the answered mail, and `around` may have replies within it. */
export type Mark = "head" | "quotation" | "signature" | "around"

/** The border that Outlook puts above the header of the original message. */
const outlook = /border:\s*none;\s*border-top:\s*solid #[\da-f]{6} 1\.0pt;\s*padding:\s*3\.0pt/i

/** Outlook on the web prefixes foreign names with `x_`, Yahoo its own with a number. */
const before = String.raw`(?:x_)*(?:(?:yiv\d+|ydp[\da-f]+)(?=yahoo|signature))?`

const named = (names: ReadonlyArray<string>) => new RegExp(`(?:^|\\s)${before}(?:${names.join("|")})(?=\\s|$)`)

const marks: ReadonlyArray<readonly [Mark, RegExp]> = [
  ["head", named(QuoteMarks.heads)],
  ["quotation", named(QuoteMarks.quotations)],
  ["signature", named(QuoteMarks.signatures)],
  ["around", named(QuoteMarks.around)]
]

const all = Object.values(QuoteMarks).flat()
const any = named(all)

/** The minimum length of a mark. Nearly all names are shorter. */
const leastLength = Math.min(...all.map(({ length }) => length))

/** The mark of an element. `names` has its classes and id in lower case, `style` its attribute. */
export const markOf = (names: string, style: string): Mark | undefined => {
  if (style.length > 40 && outlook.test(style)) return "head"
  if (names.length < leastLength || !any.test(names)) return undefined
  return marks.find(([, pattern]) => pattern.test(names))?.[0]
}
