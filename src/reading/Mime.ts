import { Effect } from "effect"
import { type Attachment as ParsedAttachment, type ParsedMail, simpleParser } from "mailparser"
import * as HeaderBlock from "../model/HeaderBlock.ts"
import type { Attachment, InboundEvent } from "../model/InboundEvent.ts"
import * as Addresses from "./Addresses.ts"
import * as BoundaryPadding from "./BoundaryPadding.ts"
import * as HeaderText from "./HeaderText.ts"
import * as HtmlText from "./HtmlText.ts"

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

/** What the parser has to know of the header. The rest is read here, where the first of several fields counts. */
const bodyFields = new Set([
  "mime-version",
  "content-type",
  "content-transfer-encoding",
  "content-disposition",
  "content-id"
])

/** The header list of an event is cut at this many bytes of names and values. */
const headerBytes = 64 * 1024

/** Addresses and references of one field that are listed. A field of a megabyte must not make an event of several. */
const listedPerField = 1_000

/** Reads a message. Never fails: what the parser can't read becomes an event of headers alone. */
export const read = Effect.fn("Mime.read")((message: Uint8Array) => {
  const fields = HeaderBlock.fields(message)
  return Effect.tryPromise(() => parse(message, fields)).pipe(
    Effect.map((mail) => contents(fields, mail)),
    Effect.catch((error) =>
      Effect.as(
        Effect.logWarning("A message could not be parsed; its event has the headers only", error),
        contents(fields, undefined)
      )
    )
  )
})

/** What can be said of a message without parsing it. */
export const headersOnly = (message: Uint8Array): Contents => contents(HeaderBlock.fields(message), undefined)

/** The bytes of one attachment, by the index that its event gives. */
export const attachment = Effect.fn("Mime.attachment")(function* (message: Uint8Array, index: number) {
  const mail = yield* Effect.option(Effect.tryPromise(() => parse(message, HeaderBlock.fields(message))))
  const part = mail._tag === "Some" ? mail.value.attachments[index] : undefined
  return part === undefined ? undefined : { ...metadata(part, index), content: new Uint8Array(part.content) }
})

const parse = (message: Uint8Array, fields: ReadonlyArray<HeaderBlock.HeaderField>): Promise<ParsedMail> =>
  simpleParser(BoundaryPadding.trim(withBodyFields(message, fields)), {
    // Its HTML to text is quadratic in nesting and rejects the message; its links rewrite what was sent.
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true
  })

/** The message with the first of each of these fields and no other, in UTF-8. */
const withBodyFields = (message: Uint8Array, fields: ReadonlyArray<HeaderBlock.HeaderField>): Buffer => {
  const seen = new Set<string>()
  const kept: Array<Uint8Array> = []
  let from = 0
  for (const { end, name, start } of fields) {
    const key = name.toLowerCase()
    kept.push(message.subarray(from, start))
    if (bodyFields.has(key) && !seen.has(key)) kept.push(HeaderText.toUtf8(message.subarray(start, end)))
    seen.add(key)
    from = end
  }
  kept.push(message.subarray(from))
  return Buffer.concat(kept)
}

const contents = (fields: ReadonlyArray<HeaderBlock.HeaderField>, mail: ParsedMail | undefined): Contents => {
  const field = (name: string) => fields.find((candidate) => candidate.name.toLowerCase() === name)
  const first = (name: string) => {
    const found = field(name)
    return found === undefined ? undefined : HeaderText.value(found) || undefined
  }
  const mailboxes = (name: string) => {
    const found = field(name)
    return found === undefined ? [] : Addresses.parse(found).slice(0, listedPerField)
  }
  const html = typeof mail?.html === "string" ? HeaderText.clean(mail.html) : null
  const plain = HeaderText.clean(mail?.text ?? "")
  return {
    message_id: first("message-id") ?? null,
    from: mailboxes("from").find(Addresses.isUsable)?.address ?? null,
    subject: first("subject") ?? "",
    text: plain.trim() === "" && html !== null ? HeaderText.clean(HtmlText.render(html)) : plain,
    html,
    attachments: (mail?.attachments ?? []).map(metadata),
    headers: listed(fields),
    to: mailboxes("to"),
    cc: mailboxes("cc"),
    replyTo: mailboxes("reply-to"),
    inReplyTo: first("in-reply-to") ?? null,
    references: (first("references") ?? "")
      .split(/[\s,]+/, listedPerField + 1)
      .filter((id) => id !== "")
      .slice(0, listedPerField),
    parse: mail === undefined ? "headers" : "full"
  }
}

const metadata = (part: ParsedAttachment, index: number): Attachment => ({
  // A sender's folders are nobody's business here.
  filename:
    HeaderText.oneLine(part.filename ?? "")
      .split(/[\\/]/)
      .at(-1) || null,
  contentType: HeaderText.oneLine(part.contentType),
  size: part.size,
  contentId: part.contentId === undefined ? null : HeaderText.oneLine(part.contentId),
  disposition: part.contentDisposition === undefined ? null : HeaderText.oneLine(part.contentDisposition),
  index
})

const listed = (fields: ReadonlyArray<HeaderBlock.HeaderField>): Contents["headers"] => {
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
