import type { Extracted } from "../../model/Extracted.ts"
import * as Invisible from "../html/Invisible.ts"
import type { SeenHtml, SeenLine } from "../html/SeenHtml.ts"
import * as TextMatch from "../html/TextMatch.ts"
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
  /** The plain text without invisible code points, or null without one. */
  readonly text: string | null
  /** The visible content of each HTML part. */
  readonly html: ReadonlyArray<SeenHtml>
  /**
   * What the HTML surely shows, or null if the plain text is shown beside it. By default mail programs show one of
   * them.
   */
  readonly shown?: string | null
  readonly listUnsubscribe: string | undefined
  readonly listUnsubscribePost: string | undefined
  /** A post of a mailing list or a newsletter, by its header. */
  readonly isList: boolean
  /** It answers a mail, by its header. */
  readonly isReply?: boolean
}): Extracted => {
  const isBoth = mail.text !== null && mail.html.length > 0
  const { shown = isBoth ? TextMatch.certainText(mail.html) : null } = mail
  const about = SpokenLines.alone(Invisible.without(mail.subject).seen)
  const sources: Array<SpokenLines.Source> = []
  let room = mostText
  if (mail.text !== null) {
    const { lines, links } = PlainLines.read(mail.text, room, Links.mostLooked, Links.longestUrl)
    sources.push({ name: "text", spoken: SpokenLines.of(lines), links })
  }
  for (const { lines, links } of mail.html) {
    if (room <= 0) break
    const first = within(lines, room)
    room = first.left
    const bare = PlainLines.bare(first.lines, links, Links.mostLooked, Links.longestUrl)
    sources.push({ name: "html", spoken: SpokenLines.of(first.lines), links: [...links, ...bare] })
  }
  return {
    code: Codes.find(about, sources, { isTalk: mail.isList || mail.isReply === true, shown }),
    links: Links.find(about, sources, { isList: mail.isList, shown }),
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
