import libmime from "libmime"
import type { Attachment } from "../model/InboundEvent.ts"
import * as Charset from "./Charset.ts"
import * as FileName from "./FileName.ts"
import * as HeaderText from "./HeaderText.ts"
import * as HtmlText from "./HtmlText.ts"
import * as LineEnds from "./LineEnds.ts"
import type * as Parts from "./Parts.ts"
import * as Uuencode from "./Uuencode.ts"

/** A part without its transfer encoding. */
export interface Part extends Parts.Part {
  readonly content: Uint8Array
}

/** An attachment with its bytes. */
export interface Attached extends Attachment {
  readonly content: Uint8Array
}

/** What the parts of a message say together. */
export interface Body {
  readonly text: string
  readonly html: string | null
  readonly attachments: ReadonlyArray<Attached>
  readonly isComplete: boolean
}

/** Attachments that are listed; an event of more serves nobody. */
const mostAttachments = 1_000

export const read = (parts: ReadonlyArray<Part>): Body => {
  const attachments: Array<Attached> = []
  const texts: Array<{ readonly text: string; readonly isHtml: boolean; readonly alternative: number | undefined }> = []
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
        content
      })
  }

  for (const part of parts) {
    const { content } = part
    const type = part.header.type ?? (looksLikeText(content) ? "text/plain" : "application/octet-stream")
    const isShown = isText(part, type)
    if (!isShown || part.header.filename !== null) attach(part, content, type)
    if (type === "message/delivery-status" || isShown) {
      const isHtml = type === "text/html"
      const { files, text } = isHtml ? { files: [], text: textOf(part) } : Uuencode.extract(textOf(part))
      texts.push({ text, isHtml, alternative: part.alternative })
      for (const file of files) {
        attach(part, file.content, "application/octet-stream", FileName.sanitise(file.name))
      }
    }
  }

  // What is said in plain text is not said again from the HTML beside it.
  const plain = new Set(
    texts.flatMap(({ alternative, isHtml, text }) => (isHtml || text.trim() === "" ? [] : [alternative]))
  )
  const html = texts.flatMap(({ isHtml, text }) => (isHtml ? [text] : []))
  return {
    text: texts
      .flatMap(({ alternative, isHtml, text }) => {
        if (!isHtml) return texts.length > 1 && text.trim() === "" ? [] : [text]
        return alternative !== undefined && plain.has(alternative) ? [] : [HtmlText.render(text)]
      })
      .join("\n"),
    html: html.length === 0 ? null : html.join("<br/>\n"),
    attachments,
    isComplete
  }
}

/** Whether a part is what a person wrote and reads, rather than something they sent along. */
const isText = ({ header: { disposition, filename }, isFirst, isRoot }: Part, type: string): boolean => {
  if (disposition !== null && disposition !== "inline") return false
  if (type !== "text/plain" && type !== "text/html") return isRoot && type.startsWith("text/") && filename === null
  // Some programs give even the text itself a name (RFC 8621, section 4.1.4).
  return filename === null || isFirst
}

const textOf = ({ content, header: { charset, delSp, flowed, type } }: Part): string => {
  const label = charset ?? (type === "text/html" ? metaCharset(content) : undefined)
  const text = LineEnds.unified(HeaderText.clean(Charset.decode(content, label)))
  return flowed ? libmime.decodeFlowed(text, delSp) : text
}

/** What an HTML part says of itself, where nobody else does. */
const metaCharset = (content: Uint8Array): string | undefined =>
  /<meta[^>]{1,200}charset\s*=\s*["']?([\w-]+)/i.exec(Buffer.from(content.subarray(0, 4_096)).toString("latin1"))?.[1]

/** Whether bytes of no type that anybody knows can be shown. */
const looksLikeText = (content: Uint8Array): boolean => {
  let controls = 0
  for (const byte of content) {
    if (byte === 0) return false
    if (byte < 0x20 && (byte < 0x09 || byte > 0x0d)) controls++
  }
  return controls * 100 <= content.length
}
