import { Effect, Schema } from "effect"
import * as PlainLines from "../content/codes/PlainLines.ts"
import type * as Content from "../content/html/Content.ts"
import * as Marked from "../content/html/Marked.ts"
import type { BriefEvent } from "../events/BriefEvent.ts"
import { EventId } from "../model/InboundEvent.ts"
import * as BriefMail from "./BriefMail.ts"
import * as Parameters from "./Parameters.ts"
import { notice, Reading } from "./Reading.ts"
import * as Tool from "./Tool.ts"

const usualChars = 6_000
const longestSubject = 500

/** The maximum length of a slice of text, and of a list of links with more than one. */
const mostBytes = 8_000
const mostLinkBytes = 4_000

/** The maximum numbers of URLs in plain text, and of characters in one. */
const mostUrls = 500
const longestUrl = 8_192

/** The part of a mail to search for all links. */
const whole = { part: "visible", maxChars: 5_000_000, offset: 0 } as const

/** The start of a text: whole characters up to a number of bytes. */
const fitting = (text: string, bytes: number): string => {
  if (Buffer.byteLength(text) <= bytes) return text
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes), { stream: true })
}

const ofPiece = ({ content, length, next_offset }: Content.Content, offset: number) => {
  const told = fitting(content, mostBytes)
  const next = told.length === content.length ? next_offset : offset + told.length
  return { content: told, next_offset: next !== null && next < length ? next : null }
}

interface Link {
  readonly url: string
  readonly text: string
}

/** The links in the order of their numbers in the text, and main links that are not among them. A URL in text is one. */
const linksOf = ({ extracted }: BriefEvent, { content, links }: Content.Content): ReadonlyArray<Link> => {
  const main = (extracted?.links ?? []).map(({ confidence, text, url }) => {
    const isDoubted = confidence === "low"
    const words = Marked.plain(text)
    return { url, text: isDoubted ? Marked.as("uncertain", words) : words, isDoubted }
  })
  const doubted = new Map(main.filter(({ isDoubted }) => isDoubted).map((link) => [link.url, link]))
  const found = new Map<string, Link>()
  for (const link of links.length > 0 ? links : urlsIn(content)) {
    if (!found.has(link.url)) found.set(link.url, doubted.get(link.url) ?? link)
  }
  for (const link of main) if (!found.has(link.url)) found.set(link.url, link)
  return [...found.values()]
}

/** The URLs of text without links. Those of text with marks are all marked. */
const urlsIn = (content: string): ReadonlyArray<Link> => {
  const text = content.replace(/⟦[a-z ]+: |⟧/g, " ").replace(/\\([\\`*[\]<])/g, "$1")
  const isMarked = content.includes("⟦")
  return PlainLines.read(text, text.length, mostUrls, longestUrl).links.map(({ text, url }) => ({
    url,
    text: isMarked ? Marked.as("uncertain", text) : text
  }))
}

/** The links from an index on, one a line. */
const ofLinks = (links: ReadonlyArray<Link>, offset: number, maxChars: number) => {
  const lines: Array<string> = []
  let bytes = 0
  for (const { text, url } of links.slice(offset)) {
    const line = `${offset + lines.length + 1}. ${text} ${url}`
    bytes += Buffer.byteLength(line) + 1
    if (bytes > Math.min(maxChars, mostLinkBytes) && lines.length > 0) break
    lines.push(line)
  }
  const next = offset + lines.length
  return { content: lines.join("\n"), next_offset: next < links.length ? next : null }
}

export const add = Effect.gen(function* () {
  const reading = yield* Reading

  yield* Tool.add({
    name: "read_mail",
    description:
      "Read a mail. part reply (default) has its new words, visible all that a person sees, links its links.",
    filters: true,
    parameters: {
      event_id: Parameters.eventId,
      part: Schema.optionalKey(
        Schema.Literals(["reply", "visible", "links"]).annotate({ message: "Expected one of reply, visible, links" })
      ),
      max_chars: Parameters.maxChars,
      offset: Parameters.offset
    },
    answer: Effect.fnUntraced(function* (
      { event_id, max_chars: maxChars = usualChars, offset = 0, part = "reply" },
      workspace
    ) {
      const asked = part === "links" ? whole : { part, maxChars, offset }
      const { brief, content, domainId } = yield* reading.of(workspace, EventId.make(event_id), asked)
      return {
        notice,
        from: BriefMail.shortAddress(brief.from),
        dmarc: brief.authentication.dmarc,
        subject: fitting(brief.subject, longestSubject),
        ...(part === "links" ? ofLinks(linksOf(brief, content), offset, maxChars) : ofPiece(content, offset)),
        hidden_text: content.hidden.words > 0,
        uncertain_text: content.uncertain ? true : undefined,
        attachments:
          brief.attachments === 0
            ? undefined
            : `${brief.attachments}, which no tool reads. GET /api/domains/${domainId}/events/${event_id}/attachments/0 gives the first`
      }
    })
  })
})
