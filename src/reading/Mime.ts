import { Effect } from "effect"
import { type AddressObject, type Attachment as ParsedAttachment, type ParsedMail, simpleParser } from "mailparser"
import * as HeaderBlock from "../model/HeaderBlock.ts"
import type { Attachment, InboundEvent, Mailbox } from "../model/InboundEvent.ts"
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

/** RFC 5322, section 3.6, and RFC 2045 allow these once. Where there are several, the first one counts. */
const once = new Set([
  "from",
  "sender",
  "reply-to",
  "to",
  "cc",
  "message-id",
  "in-reply-to",
  "references",
  "subject",
  "date",
  "mime-version",
  "content-type",
  "content-transfer-encoding",
  "content-disposition"
])

/** The header list of an event is cut at this many characters of names and values (decisions, section 7). */
const headerCharacters = 64 * 1024

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
  simpleParser(withoutDuplicates(message, fields), {
    // Its HTML to text is quadratic in nesting and rejects the message; its links rewrite what was sent.
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true
  })

const withoutDuplicates = (message: Uint8Array, fields: ReadonlyArray<HeaderBlock.HeaderField>): Buffer => {
  const seen = new Set<string>()
  const kept: Array<Uint8Array> = []
  let from = 0
  for (const { end, name, start } of fields) {
    const key = name.toLowerCase()
    if (seen.has(key)) {
      kept.push(message.subarray(from, start))
      from = end
    } else if (once.has(key)) seen.add(key)
  }
  kept.push(message.subarray(from))
  return Buffer.concat(kept)
}

const contents = (fields: ReadonlyArray<HeaderBlock.HeaderField>, mail: ParsedMail | undefined): Contents => {
  const first = (name: string) => {
    const field = fields.find((candidate) => candidate.name.toLowerCase() === name)
    return field === undefined ? undefined : HeaderText.value(field) || undefined
  }
  const html = typeof mail?.html === "string" ? HeaderText.clean(mail.html) : null
  return {
    message_id: first("message-id") ?? null,
    from:
      mailboxes(mail?.from)
        .map(({ address }) => address)
        .find((address) => address.includes("@")) ?? null,
    subject: mail?.subject === undefined ? (first("subject") ?? "") : HeaderText.oneLine(mail.subject),
    text:
      mail?.text === undefined
        ? html === null
          ? ""
          : HeaderText.clean(HtmlText.render(html))
        : HeaderText.clean(mail.text),
    html,
    attachments: (mail?.attachments ?? []).map(metadata),
    headers: listed(fields),
    to: mailboxes(mail?.to),
    cc: mailboxes(mail?.cc),
    replyTo: mailboxes(mail?.replyTo),
    inReplyTo: first("in-reply-to") ?? null,
    references: (first("references") ?? "").split(/[\s,]+/).filter((id) => id !== ""),
    parse: mail === undefined ? "headers" : "full"
  }
}

const metadata = (part: ParsedAttachment, index: number): Attachment => ({
  filename: part.filename === undefined ? null : HeaderText.oneLine(part.filename),
  contentType: HeaderText.oneLine(part.contentType),
  size: part.size,
  contentId: part.contentId === undefined ? null : HeaderText.oneLine(part.contentId),
  disposition: part.contentDisposition === undefined ? null : HeaderText.oneLine(part.contentDisposition),
  index
})

/** Groups (RFC 5322, section 3.4) count as their members. */
const mailboxes = (field: AddressObject | ReadonlyArray<AddressObject> | undefined): ReadonlyArray<Mailbox> =>
  [field ?? []]
    .flat()
    .flatMap(({ value }) => value.flatMap((entry) => entry.group ?? [entry]))
    .flatMap(({ address, name }) =>
      address === undefined || address === ""
        ? []
        : [{ name: HeaderText.oneLine(name ?? ""), address: HeaderText.oneLine(address) }]
    )

const listed = (fields: ReadonlyArray<HeaderBlock.HeaderField>): Contents["headers"] => {
  const headers: Array<Contents["headers"][number]> = []
  let characters = 0
  for (const field of fields) {
    const value = HeaderText.value(field)
    characters += field.name.length + value.length
    if (characters > headerCharacters) break
    headers.push({ name: field.name, value })
  }
  return headers
}
