import * as SeenHtml from "../content/html/SeenHtml.ts"
import * as TextLooks from "../content/html/TextLooks.ts"
import type { Attachment } from "../model/InboundEvent.ts"
import * as Charset from "./Charset.ts"
import * as FileName from "./FileName.ts"
import * as Flowed from "./Flowed.ts"
import * as HeaderText from "./HeaderText.ts"
import * as LineEnds from "./LineEnds.ts"
import { once } from "./Once.ts"
import type * as Parts from "./Parts.ts"
import * as Uuencode from "./Uuencode.ts"

/** A part without its transfer encoding. */
export interface Part extends Parts.Part {
  readonly content: Uint8Array
}

/** An attachment with its bytes, and the charset that its header declares. */
export interface Attached extends Attachment {
  readonly content: Uint8Array
  readonly charset: string | undefined
}

/** The combined content of a message's parts. */
export interface Body {
  /** All text, computed on demand, because HTML costs long. */
  readonly text: () => string
  /** The same without delivery reports. */
  readonly withoutReports: () => string
  readonly html: string | null
  /** The plain text parts only, or null without any. */
  readonly plain: string | null
  /** Those of them that mail programs show only instead of HTML, or null without any. */
  readonly alternative: string | null
  /** The visible content of each HTML part, computed once on demand. */
  readonly seen: () => ReadonlyArray<SeenHtml.SeenHtml>
  readonly attachments: ReadonlyArray<Attached>
  readonly isComplete: boolean
}

/** Maximum listed attachments. */
const mostAttachments = 1_000

export const read = (parts: ReadonlyArray<Part>): Body => {
  const attachments: Array<Attached> = []
  /** The length of all HTML parts, which share one budget of steps. */
  let htmlUnits = 0
  const texts: Array<{
    readonly text: string
    /** The visible content of an HTML part, undefined for plain text. */
    readonly seen: (() => SeenHtml.SeenHtml) | undefined
    readonly alternative: number | undefined
    readonly isReport: boolean
  }> = []
  let isComplete = true

  const attach = ({ header }: Part, content: Uint8Array, type: string, filename = header.filename) => {
    if (attachments.length === mostAttachments) isComplete = false
    else
      attachments.push({
        filename,
        contentType: type,
        size: content.byteLength,
        contentId: header.contentId,
        disposition: header.disposition,
        index: attachments.length,
        content,
        charset: header.charset
      })
  }

  for (const part of parts) {
    const { content } = part
    const type = part.header.type ?? (looksLikeText(content) ? "text/plain" : "application/octet-stream")
    const isShown = isText(part, type)
    // A calendar is also the whole of some invitations.
    if (!isShown || part.header.filename !== null || type === "text/calendar") attach(part, content, type)
    if (type === "message/delivery-status" || isShown) {
      const isHtml = type === "text/html"
      const { files, text } = isHtml ? { files: [], text: textOf(part) } : Uuencode.extract(textOf(part))
      if (isHtml) htmlUnits += text.length
      texts.push({
        text,
        seen: isHtml ? once(() => SeenHtml.see(text, htmlUnits)) : undefined,
        alternative: part.alternative,
        isReport: !isShown
      })
      for (const file of files) {
        attach(part, file.content, "application/octet-stream", FileName.sanitise(file.name))
      }
    }
  }

  // Skips HTML beside plain text in the same multipart/alternative.
  const plain = new Set(
    texts.flatMap(({ alternative, seen, text }) => (seen !== undefined || text.trim() === "" ? [] : [alternative]))
  )
  const plainTexts = texts.flatMap(({ seen, text }) => (seen === undefined ? [text] : []))
  const html = texts.flatMap(({ seen, text }) => (seen === undefined ? [] : [text]))
  const withHtml = new Set(texts.flatMap(({ alternative, seen }) => (seen === undefined ? [] : [alternative])))
  const replaced = texts.flatMap(({ alternative, seen, text }) =>
    seen === undefined && alternative !== undefined && withHtml.has(alternative) && text.trim() !== "" ? [text] : []
  )
  const joined = (some: typeof texts) =>
    some
      .flatMap(({ alternative, seen, text }) => {
        if (seen === undefined) return some.length > 1 && text.trim() === "" ? [] : [text]
        return alternative !== undefined && plain.has(alternative) ? [] : [said(seen().text)]
      })
      .join("\n")
  return {
    text: () => joined(texts),
    withoutReports: () => joined(texts.filter(({ isReport }) => !isReport)),
    plain: plainTexts.length === 0 ? null : plainTexts.join("\n"),
    alternative: replaced.length === 0 ? null : replaced.join("\n"),
    html: html.length === 0 ? null : html.join("<br/>\n"),
    seen: () => texts.flatMap(({ seen }) => (seen === undefined ? [] : [seen()])),
    attachments,
    isComplete
  }
}

/** Whether a part is the author's text rather than an attached file. */
const isText = ({ header: { disposition, filename }, isFirst, isRoot }: Part, type: string): boolean => {
  if (disposition !== null && disposition !== "inline") return false
  if (type !== "text/plain" && type !== "text/html") return isRoot && type.startsWith("text/") && filename === null
  // Some programs give a file name to the text itself (RFC 8621, section 4.1.4).
  return filename === null || isFirst
}

const textOf = ({ content, header: { charset, delSp, flowed, type } }: Part): string => {
  const text = said(Charset.decode(content, charsetOf(type, charset, content)))
  return flowed && type === "text/plain" ? Flowed.decode(text, delSp) : text
}

const charsetOf = (type: string | null, charset: string | undefined, content: Uint8Array): string | undefined =>
  charset ?? (type === "text/html" ? metaCharset(content) : undefined)

/** The declared charset of the first text, which may also be that of raw header bytes. */
export const charsetOfText = (parts: ReadonlyArray<Part>): string | undefined => {
  for (const { content, header } of parts) {
    const isText = header.type === "text/plain" || header.type === "text/html"
    const charset = isText ? charsetOf(header.type, header.charset, content) : undefined
    if (charset !== undefined) return charset
  }
  return undefined
}

/** Sanitizes a text for an event. HTML can refer to characters that are invalid in any charset. */
const said = (text: string): string => LineEnds.unified(TextLooks.mayBeUnclean(text) ? HeaderText.clean(text) : text)

/** A charset in which no `meta` of ASCII bytes can be written, so it means UTF-8 (HTML, section 13.2.3.2). */
const wide = /^(?:utf-?(?:16|32)|ucs-?[24])/i

/** The charset from `meta`, if not declared elsewhere. */
const metaCharset = (content: Uint8Array): string | undefined => {
  const text = Buffer.from(content.subarray(0, 4_096)).toString("latin1")
  const lower = text.toLowerCase()
  for (let start = lower.indexOf("<meta"); start >= 0; start = lower.indexOf("<meta", start + 1)) {
    const from = start + 5
    const close = lower.indexOf(">", from)
    const inside = lower.slice(from, Math.min(from + 207, close < 0 ? text.length : close))
    for (let at = inside.lastIndexOf("charset"); at > 0; at = inside.lastIndexOf("charset", at - 1)) {
      const [, charset] = /^charset\s*=\s*["']?([\w-]+)/i.exec(text.slice(from + at, from + at + 100)) ?? []
      if (charset !== undefined) return wide.test(charset) ? "utf-8" : charset
    }
  }
  return undefined
}

/** Whether bytes of an unknown type can be shown as text. */
const looksLikeText = (content: Uint8Array): boolean => {
  let controls = 0
  for (const byte of content) {
    if (byte === 0) return false
    if (byte < 0x20 && (byte < 0x09 || byte > 0x0d)) controls++
  }
  return controls * 100 <= content.length
}
