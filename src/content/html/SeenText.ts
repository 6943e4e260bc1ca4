import { mark } from "../reply/ReplyLines.ts"
import type { Line } from "./Line.ts"
import { longestText } from "./LineWriter.ts"
import type { Link } from "./Link.ts"
import * as Marked from "./Marked.ts"

/** Without the parts of a URL that a person omits. */
const bare = (address: string) =>
  address
    .replace(/^(?:https?:\/\/|mailto:)/i, "")
    .replace(/^www\./i, "")
    .replace(/\/$/, "")
    .toLowerCase()

/** A link's URL follows its text, unless both are equal. */
const addressOf = ({ text, url }: Link): string =>
  text === "" || !/^(https?|mailto):/i.test(url) || bare(url) === bare(text) ? "" : ` [${url}]`

interface Options {
  /** Uncertain parts are marked. */
  readonly marks?: boolean
  /** Quotations and signatures become a marker line, and so does everything from this line on. */
  readonly cutFrom?: number
}

/** Lines as plain text: cells of a row on one line, blank lines between paragraphs. */
export const render = (
  lines: ReadonlyArray<Line>,
  links: ReadonlyArray<Link>,
  { cutFrom, marks = false }: Options = {}
): string => {
  let text = ""
  let next = 0
  let isCut = false
  for (const [index, line] of lines.entries()) {
    const isLeftOut = cutFrom !== undefined && (index >= cutFrom || line.isCut)
    if (isLeftOut && isCut) continue
    if (text !== "") text += line.gap === 0 && !isLeftOut && !isCut ? " " : "\n".repeat(Math.max(1, line.gap))
    isCut = isLeftOut
    if (isLeftOut) {
      text += mark
      continue
    }
    text += line.marker
    const piece = (from: number, to: number) =>
      marks ? Marked.slice(line.text, line.uncertain, [from, to], Marked.plain) : line.text.slice(from, to)
    let at = 0
    for (; (links[next]?.endLine ?? lines.length) <= index; next++) {
      const link = links[next]
      if (link === undefined || link.endLine < index) continue
      const address = addressOf(link)
      if (address === "") continue
      text += piece(at, link.endAt) + address
      at = Math.max(at, link.endAt)
    }
    text += at === 0 && !marks ? line.text : piece(at, line.text.length)
    if (text.length >= longestText) break
  }
  return text.slice(0, longestText).toWellFormed().trim()
}
