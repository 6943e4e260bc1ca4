import type { Extracted } from "../../model/Extracted.ts"
import type { SeenHtml, SeenLine } from "../html/SeenHtml.ts"
import * as Codes from "./Codes.ts"
import * as Links from "./Links.ts"
import * as PlainLines from "./PlainLines.ts"
import * as SpokenLines from "./SpokenLines.ts"
import * as Unsubscribe from "./Unsubscribe.ts"

/** Maximum visible text to search, in plain text and HTML. */
const mostText = 64 * 1024

/** Extracts code, links and unsubscribe data of a mail. */
export const of = (mail: {
  readonly subject: string
  /** The plain text as sent, or null without one. */
  readonly text: string | null
  /** The visible content of each HTML part. */
  readonly html: ReadonlyArray<SeenHtml>
  readonly listUnsubscribe: string | undefined
  readonly listUnsubscribePost: string | undefined
}): Extracted => {
  const about = SpokenLines.alone(mail.subject)
  const sources: Array<Codes.Source & Links.Source> = []
  let room = mostText
  if (mail.text !== null) {
    const { lines, links } = PlainLines.read(mail.text, room, Links.mostLooked, Links.longestUrl)
    sources.push({ name: "text", spoken: SpokenLines.of(lines), links })
  }
  for (const { lines, links } of mail.html) {
    if (room <= 0) break
    const first = within(lines, room)
    room = first.left
    sources.push({ name: "html", spoken: SpokenLines.of(first.lines), links })
  }
  return {
    code: Codes.find(about, sources),
    links: Links.find(about, sources),
    unsubscribe: Unsubscribe.read(mail.listUnsubscribe, mail.listUnsubscribePost)
  }
}

/** The lines within the limit. The last one may be cut. */
const within = (lines: ReadonlyArray<SeenLine>, room: number) => {
  let left = room
  for (const [index, line] of lines.entries()) {
    left -= line.text.length
    if (left >= 0) continue
    const last = { ...line, text: line.text.slice(0, left + line.text.length) }
    return { lines: [...lines.slice(0, index), last], left }
  }
  return { lines, left }
}
