import { Parser } from "htmlparser2"
import { isIntro, mark } from "./ReplyLines.ts"
import * as ReplyWords from "./ReplyWords.ts"

/** Characters to keep before a tag. The last 200 are searched. */
const longestBefore = 1_000

/** The maximum number of checks before unmarked quotations: a fixed number, plus one for a number of units. */
const mostLooks = 200
const unitsOfALook = 250

/** Maximum nesting depth, because the parser's work for each tag grows with it. */
const deepest = 1_000

type Role = "none" | "cut" | "around" | "head"

const roleOf = (name: string, attributes: { readonly [name: string]: string }, isBehindIntro: () => boolean): Role => {
  const marks = `${attributes.class ?? ""} ${attributes.id ?? ""}`
  const style = attributes.style ?? ""
  if (ReplyWords.markedHead.test(marks) || ReplyWords.outlookLine.test(style)) return "head"
  const isNamed = (name === "div" && attributes.name === "quote") || attributes["data-smartmail"] === "gmail_signature"
  if (isNamed || ReplyWords.marked.test(marks)) return "cut"
  if (name !== "blockquote") return name === "div" && ReplyWords.markedAround.test(marks) ? "around" : "none"
  // Authors indent with it, too.
  const isMarked = attributes.type === "cite" || attributes.cite !== undefined || /quote/i.test(marks)
  return isMarked || ReplyWords.quotingLine.test(style) || isBehindIntro() ? "cut" : "none"
}

/**
 * Cuts quotations and signatures that programs mark out of HTML, and leaves a marker line instead. Undefined without
 * any. The elements and their styles stay, so that hidden text stays hidden. Reads each tag once.
 */
export const cut = (html: string): string | undefined => {
  if (!ReplyWords.partsOfMarks.some((part) => html.includes(part)) || !ReplyWords.marks.test(html)) return undefined
  const gaps: Array<readonly [from: number, to: number]> = []
  const styles: Array<readonly [from: number, to: number]> = []
  const open: Array<{ readonly role: Role; readonly start: number; readonly inner: number; hasQuotation: boolean }> = []
  /** The depth of the removed element, or -1 if everything after it is removed. */
  let cutAt: number | undefined
  /** The last words before a tag, which identify some quotations. */
  let before = ""
  let looks = mostLooks + html.length / unitsOfALook
  const isBehindIntro = () => looks-- >= 1 && isIntro(before.slice(-200).trim(), true)
  const parser = new Parser({
    onopentag(name, attributes) {
      if (open.length > deepest) return parser.pause()
      const role = cutAt === undefined ? roleOf(name, attributes, isBehindIntro) : "none"
      const [start, inner] = [parser.startIndex, parser.endIndex + 1]
      if (role === "head") {
        cutAt = -1
        gaps.push([start, html.length])
      } else if (role === "cut") {
        cutAt = open.length
        for (let at = open.length - 1; name === "blockquote" && open[at]?.hasQuotation === false; at--) {
          const one = open[at]
          if (one !== undefined) one.hasQuotation = true
        }
      }
      open.push({ role, start, inner, hasQuotation: false })
      if (before.length < longestBefore) before += "\n"
      else before = `${before.slice(-200)}\n`
    },
    ontext(part) {
      if (cutAt === undefined) before = (before + part).slice(-400)
    },
    onclosetag(name) {
      const one = open.pop()
      if (one !== undefined && name === "style") styles.push([one.start, parser.endIndex + 1])
      if (one === undefined || (cutAt !== undefined && cutAt !== open.length)) return
      cutAt = undefined
      // A forwarded mail is not a quotation.
      if (one.role === "cut" || (one.role === "around" && !one.hasQuotation)) gaps.push([one.inner, parser.startIndex])
    }
  })
  parser.end(html)
  if (gaps.length === 0) return undefined
  let left = ""
  let at = 0
  let style = 0
  for (const [from, to] of gaps.toSorted(([one], [other]) => one - other)) {
    if (from < at) continue
    left += html.slice(at, from)
    for (; (styles[style]?.[0] ?? to) < to; style++) {
      const [start, end] = styles[style] ?? [to, to]
      if (start >= from) left += html.slice(start, end)
    }
    left += `<div>${mark}</div>`
    at = to
  }
  return left + html.slice(at)
}
