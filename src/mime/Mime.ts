import type { InboundEvent } from "../model/InboundEvent.ts"
import * as Addresses from "./Addresses.ts"
import * as Body from "./Body.ts"
import * as HeaderBlock from "./HeaderBlock.ts"
import * as HeaderText from "./HeaderText.ts"
import * as LineEnds from "./LineEnds.ts"
import * as Parts from "./Parts.ts"
import * as TransferEncoding from "./TransferEncoding.ts"

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

/** What another decoder made of damaged parts. */
export type Mended = ReadonlyMap<TransferEncoding.Decoded, Uint8Array>

/** A message taken apart, its parts without their transfer encodings. */
export interface Opened {
  /** The parts of which something had to be left out. Unless they are mended, `parse` says so. */
  readonly damaged: ReadonlyArray<TransferEncoding.Decoded>
  readonly read: (mended?: Mended) => Contents
  /** The bytes of one attachment, by the index that its event gives. */
  readonly attachment: (index: number, mended?: Mended) => Body.Attached | undefined
}

/** The header list of an event is cut at this many bytes of names and values. */
const headerBytes = 64 * 1024

/** Addresses and references of one field that are listed. A field of a megabyte must not make an event of several. */
const listedPerField = 1_000

/** Never fails: what can't be read is left out, and `parse` says so. */
export const open = (message: Uint8Array): Opened => {
  const { fields, isComplete, parts } = Parts.split(LineEnds.withFeeds(message))
  const decoded = parts.map((part) => [part, TransferEncoding.decode(part)] as const)
  const damaged = decoded.flatMap(([, without]) => (without.isWhole ? [] : [without]))
  const body = (mended: Mended = new Map()): Body.Body => {
    const read = Body.read(
      decoded.map(([part, without]) => ({ ...part, content: TransferEncoding.content(without, mended.get(without)) }))
    )
    return { ...read, isComplete: isComplete && read.isComplete && damaged.every((part) => mended.has(part)) }
  }
  return {
    damaged,
    read: (mended) => contents(fields, body(mended)),
    attachment: (index, mended) => body(mended).attachments[index]
  }
}

export const read = (message: Uint8Array): Contents => open(message).read()

export const attachment = (message: Uint8Array, index: number): Body.Attached | undefined =>
  open(message).attachment(index)

/** What can be said of a message without looking at its body. */
export const headersOnly = (message: Uint8Array): Contents => contents(HeaderBlock.fields(message), undefined)

const contents = (fields: ReadonlyArray<HeaderBlock.HeaderField>, body: Body.Body | undefined): Contents => {
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
