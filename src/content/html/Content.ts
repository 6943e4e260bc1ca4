import * as Invisible from "./Invisible.ts"
import * as Markdown from "./Markdown.ts"
import * as Marked from "./Marked.ts"
import * as SeenHtml from "./SeenHtml.ts"
import * as TextMatch from "./TextMatch.ts"

/** The parameters of a content request. */
export interface ContentRequest {
  readonly part: "reply" | "visible" | "full" | "hidden"
  readonly format: "markdown" | "text"
  /** In UTF-16 units. */
  readonly maxChars: number
  readonly offset: number
}

/** The event's data for its content. */
export interface Said {
  readonly text: string
  readonly html: string | null
  /** Null or absent if equal to the text. */
  readonly reply?: string | null
  /** False if the HTML has other words than the plain text beside it. */
  readonly textMatchesHtml?: boolean | null
}

/** A slice of the content, and the offset of the next. */
export interface Content {
  readonly format: "markdown" | "text"
  readonly content: string
  /** Length of the whole content in UTF-16 units. */
  readonly length: number
  readonly next_offset: number | null
  /** Bytes of this slice divided by four. */
  readonly tokens_estimate: number
  readonly hidden: {
    /** Number of hidden words. */
    readonly words: number
    /** The first hidden words, if `part` is `hidden`. */
    readonly excerpt: string | null
  }
  /** Whether the HTML has words that a person may not see. They are marked. */
  readonly uncertain: boolean
  /** The links of this slice. */
  readonly links: ReadonlyArray<Markdown.Reference>
}

const longestExcerpt = 300
const mostLinks = 500

const isLow = (code: number) => code >= 0xdc00 && code <= 0xdfff

/** Moves both ends so that no character is split. */
const piece = (text: string, offset: number, maxChars: number) => {
  const start = Math.min(text.length, isLow(text.charCodeAt(offset)) ? offset + 1 : offset)
  const most = Math.min(text.length, start + maxChars)
  // At least one character, to make progress.
  const end = most < text.length && isLow(text.charCodeAt(most)) ? (most - start > 1 ? most - 1 : most + 1) : most
  const content = Marked.closed(text.slice(start, end), text.slice(0, start))
  return { content, next: end < text.length ? end : null }
}

const onlyPlain = (text: string) => (text.trim() === "" ? "" : Marked.as("plain text only", text.trim()))

/** Renders the content of an event for an agent. Equal events and requests give equal results. */
export const read = (said: Said, { format, maxChars, offset, part }: ContentRequest): Content => {
  const seen = said.html === null ? undefined : SeenHtml.see(said.html)
  const references = new Markdown.References()
  const text = Marked.plain(Invisible.without(said.text).seen)
  const visible = (): string => {
    // A mail program shows HTML without words rather than the plain text beside it.
    if (seen !== undefined && seen.lines.length === 0 && said.textMatchesHtml === false) return onlyPlain(text)
    if (seen === undefined || seen.lines.length === 0) return text
    return format === "text" ? seen.markedText : Markdown.render(seen.lines, seen.links, references)
  }
  const whole = {
    visible,
    reply: () => (seen?.uncertain === true || typeof said.reply !== "string" ? visible() : Marked.plain(said.reply)),
    full: () => {
      const other = seen === undefined || seen.lines.length === 0 ? "" : TextMatch.onlyIn(text, seen.text)
      return other === "" ? visible() : `${onlyPlain(other)}\n\n${visible()}`
    },
    hidden: () => seen?.hiddenText ?? ""
  }
    [part]()
    .trim()
  const { content, next } = piece(whole, offset, maxChars)
  const told = new Set(Array.from(content.matchAll(/\]\[(\d+)(?=\])/g), ([, ref]) => Number(ref)))
  return {
    format,
    content,
    length: whole.length,
    next_offset: next,
    tokens_estimate: Math.ceil(Buffer.byteLength(content) / 4),
    hidden: {
      words: seen?.hidden === true ? (seen.hiddenText.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) : 0,
      excerpt: part === "hidden" ? content.slice(0, longestExcerpt).toWellFormed() : null
    },
    uncertain: seen?.uncertain === true,
    links: references.all.filter(({ ref }) => told.has(ref)).slice(0, mostLinks)
  }
}
