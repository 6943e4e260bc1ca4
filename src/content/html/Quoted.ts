import * as QuoteMarks from "./QuoteMarks.ts"

const marks = [...QuoteMarks.around, ...QuoteMarks.quotations, ...QuoteMarks.heads]

/** The border that Outlook puts above the header of the original message. */
const outlook = /border-top:\s*solid #(?:e1e1e1|b5c4df) 1\.0pt;\s*padding:\s*3\.0pt/i

/** Outlook on the web prefixes foreign names with `x_`, Yahoo with a number. */
const before = String.raw`(?:x_)*(?:(?:yiv\d+|ydp[\da-f]+)(?=yahoo_quoted))?`

const named = (names: ReadonlyArray<string>) => new RegExp(`(?:^|\\s)${before}(?:${names.join("|")})(?=\\s|$)`)
const quote = named(marks)
const rest = named(QuoteMarks.heads)

/** The minimum length of a mark. Nearly all names are shorter. */
const leastLength = Math.min(...marks.map(({ length }) => length))

/** Whether an element is marked as quoted. `names` has its classes and id in lower case, `style` its attribute. */
export const isQuote = (name: string, names: string, style: string): boolean =>
  name === "blockquote" ||
  (names.length >= leastLength && quote.test(names)) ||
  (style.length > 40 && outlook.test(style))

/** Whether the rest of its parent element is quoted as well. */
export const quotesTheRest = (names: string, style: string): boolean =>
  (names.length >= leastLength && rest.test(names)) || (style.length > 40 && outlook.test(style))
