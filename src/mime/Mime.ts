import * as Effect from "effect/Effect"
import libmime from "libmime"
import { simpleParser } from "mailparser"
import type { Attachment, InboundEvent } from "../model/InboundEvent.ts"
import * as Addresses from "./Addresses.ts"
import * as Charset from "./Charset.ts"
import * as FileName from "./FileName.ts"
import * as HeaderBlock from "./HeaderBlock.ts"
import * as HeaderText from "./HeaderText.ts"
import * as HtmlText from "./HtmlText.ts"
import * as LineEnds from "./LineEnds.ts"
import * as Parts from "./Parts.ts"
import * as Uuencode from "./Uuencode.ts"

/** What a message says: the part of the event that comes from its bytes alone. The same bytes give the same fields. */
export type Contents = Pick<
  InboundEvent,
  | "message_id"
  | "subject"
  | "text"
  | "html"
  | "attachments"
  | "headers"
  | "to"
  | "cc"
  | "replyTo"
  | "inReplyTo"
  | "references"
  | "parse"
> & {
  /** The address of the From field, or null where there is none that can be used. */
  readonly from: string | null
}

interface Content extends Attachment {
  readonly content: Uint8Array
}

/** What is in the body, with the bytes of its attachments. */
interface Body {
  readonly fields: ReadonlyArray<HeaderBlock.HeaderField>
  readonly text: string
  readonly html: string | null
  readonly attachments: ReadonlyArray<Content>
  readonly isComplete: boolean
}

/** The header list of an event is cut at this many bytes of names and values. */
const headerBytes = 64 * 1024

/** Attachments that are listed; an event of more serves nobody. */
const mostAttachments = 1_000

/** Addresses and references of one field that are listed. A field of a megabyte must not make an event of several. */
const listedPerField = 1_000

/** Reads a message. Needs no services, and never fails: what can't be read is left out, and `parse` says so. */
export const read = Effect.fn("Mime.read")((message: Uint8Array) =>
  Effect.map(readBody(message), (body) => contents(body.fields, body))
)

/** What can be said of a message without looking at its body. */
export const headersOnly = (message: Uint8Array): Contents => contents(HeaderBlock.fields(message), undefined)

/** The bytes of one attachment, by the index that its event gives. */
export const attachment = Effect.fn("Mime.attachment")((message: Uint8Array, index: number) =>
  Effect.map(readBody(message), ({ attachments }) => attachments[index])
)

const readBody = Effect.fnUntraced(function* (message: Uint8Array) {
  const { fields, isComplete, parts } = Parts.split(LineEnds.withFeeds(message))
  const attachments: Array<Content> = []
  const texts: Array<{ readonly text: string; readonly isHtml: boolean; readonly alternative: number | undefined }> = []
  let isReadable = isComplete

  const attach = ({ header }: Parts.Part, content: Uint8Array, type: string, filename = header.filename) => {
    if (attachments.length === mostAttachments) isReadable = false
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
    const decoded = yield* Effect.option(decode(part))
    if (decoded._tag === "None") isReadable = false
    const content = decoded._tag === "None" ? part.body : decoded.value
    const type = part.header.type ?? (looksLikeText(content) ? "text/plain" : "application/octet-stream")
    const isShown = isText(part, type)
    if (!isShown || part.header.filename !== null) attach(part, content, type)
    if (type === "message/delivery-status" || isShown) {
      const isHtml = type === "text/html"
      const { files, text } = isHtml
        ? { files: [], text: textOf(part, content) }
        : Uuencode.extract(textOf(part, content))
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
  const body: Body = {
    fields,
    text: texts
      .flatMap(({ alternative, isHtml, text }) => {
        if (!isHtml) return texts.length > 1 && text.trim() === "" ? [] : [text]
        return alternative !== undefined && plain.has(alternative) ? [] : [HtmlText.render(text)]
      })
      .join("\n"),
    html: html.length === 0 ? null : html.join("<br/>\n"),
    attachments,
    isComplete: isReadable
  }
  return body
})

/** The bytes of a part without their transfer encoding, as mailparser reads it. */
const decode = ({ body, header: { encoding, type } }: Parts.Part) => {
  if (encoding === "uuencode") return Effect.succeed<Uint8Array>(Uuencode.decode(body))
  if (encoding === "none") return Effect.succeed(body)
  const plain = encoding === "base64" ? plainBase64(body) : undefined
  if (plain !== undefined) return Effect.succeed(plain)
  const end = encoding === "base64" && type?.startsWith("text/") ? endOfBase64(body) : body.length
  const header = `Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`
  return Effect.tryPromise(() => simpleParser(Buffer.concat([Buffer.from(header), body.subarray(0, end)]))).pipe(
    Effect.map(
      ({ attachments: [part] }): Uint8Array => Buffer.concat([part?.content ?? new Uint8Array(), body.subarray(end)])
    )
  )
}

/** What is base64 and nothing else: the library takes ten times as long for it as the platform. */
const plainBase64 = (body: Uint8Array): Uint8Array | undefined => {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1")
  const end = text.search(/[^A-Za-z\d+/\r\n]/)
  const padding = end === -1 ? "" : text.slice(end).replace(/[\r\n]+/g, "")
  if (!["", "=", "=="].includes(padding)) return undefined
  const decoded = Buffer.from(text, "base64")
  return (decoded.length + padding.length) % 3 === 0 ? decoded : undefined
}

/** Where a text in base64 ends and something legible follows: mailing lists put their footers there as they are. */
const endOfBase64 = (body: Uint8Array): number => {
  const latin1 = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1")
  let start = 0
  for (const line of latin1.split("\n")) {
    const isLegible = /[^A-Za-z\d+/=\s]/.test(line) && /\S[ \t]+\S|^[-_*=]{2}/.test(line)
    if (isLegible) break
    start += line.length + 1
  }
  return /^[A-Za-z\d+/]{60,76}[ \t\r]*$/m.test(latin1.slice(start)) ? latin1.length : Math.min(start, latin1.length)
}

/** Whether a part is what a person wrote and reads, rather than something they sent along. */
const isText = ({ header: { disposition, filename }, isFirst, isRoot }: Parts.Part, type: string): boolean => {
  if (disposition !== null && disposition !== "inline") return false
  if (type !== "text/plain" && type !== "text/html") return isRoot && type.startsWith("text/") && filename === null
  // Some programs give even the text itself a name (RFC 8621, section 4.1.4).
  return filename === null || isFirst
}

const textOf = ({ header: { charset, delSp, flowed, type } }: Parts.Part, content: Uint8Array): string => {
  const label = charset ?? (type === "text/html" ? metaCharset(content) : undefined)
  const text = HeaderText.clean(Charset.decode(content, label)).replace(/\r*\n|\r/g, "\n")
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

const contents = (fields: ReadonlyArray<HeaderBlock.HeaderField>, body: Body | undefined): Contents => {
  const field = (name: string) => fields.find((candidate) => candidate.name.toLowerCase() === name)
  const first = (name: string) => {
    const found = field(name)
    return found === undefined ? undefined : HeaderText.value(found) || undefined
  }
  const mailboxes = (name: string) => {
    const found = field(name)
    return found === undefined ? [] : Addresses.parse(found)
  }
  const listed = (name: string) => mailboxes(name).slice(0, listedPerField)
  return {
    message_id: first("message-id") ?? null,
    from: Addresses.author(mailboxes("from")),
    subject: first("subject") ?? "",
    text: body?.text ?? "",
    html: body?.html ?? null,
    attachments: (body?.attachments ?? []).map(({ content: _, ...metadata }) => metadata),
    headers: headerList(fields),
    to: listed("to"),
    cc: listed("cc"),
    replyTo: listed("reply-to"),
    inReplyTo: first("in-reply-to") ?? null,
    references: (first("references") ?? "")
      .split(/[\s,]+/, listedPerField + 1)
      .filter((id) => id !== "")
      .slice(0, listedPerField),
    parse: body === undefined ? "headers" : body.isComplete ? "full" : "partial"
  }
}

const headerList = (fields: ReadonlyArray<HeaderBlock.HeaderField>): Contents["headers"] => {
  const headers: Array<Contents["headers"][number]> = []
  let bytes = 0
  for (const field of fields) {
    const value = HeaderText.value(field)
    bytes += field.name.length + Buffer.byteLength(value)
    if (bytes > headerBytes) break
    headers.push({ name: field.name, value })
  }
  return headers
}
