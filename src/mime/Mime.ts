import { isAscii } from "node:buffer"
import * as Extraction from "../content/codes/Extraction.ts"
import * as HeaderValues from "../content/HeaderValues.ts"
import * as Invisible from "../content/html/Invisible.ts"
import type { SeenHtml } from "../content/html/SeenHtml.ts"
import * as TextMatch from "../content/html/TextMatch.ts"
import * as SenderKind from "../content/SenderKind.ts"
import type { Extracted } from "../model/Extracted.ts"
import type { InboundEvent } from "../model/InboundEvent.ts"
import type { MailKind } from "../model/MailKind.ts"
import * as Addresses from "./Addresses.ts"
import * as Body from "./Body.ts"
import * as EncodedWords from "./EncodedWords.ts"
import * as HeaderBlock from "./HeaderBlock.ts"
import * as HeaderText from "./HeaderText.ts"
import * as LineEnds from "./LineEnds.ts"
import * as MailKinds from "./MailKinds.ts"
import { once } from "./Once.ts"
import * as PartHeader from "./PartHeader.ts"
import * as Parts from "./Parts.ts"
import * as TransferEncoding from "./TransferEncoding.ts"

/** The fields of an event that depend only on the message's bytes. Equal bytes give equal fields. */
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
  /** The text without invisible code points, and their number in subject and text, computed once on demand. */
  readonly visible: () => { readonly text: string; readonly invisibleCharacters: number }
  /** The visible content of each HTML part, computed once on demand. */
  readonly seen: () => ReadonlyArray<SeenHtml>
  /** The plain text compared with the HTML beside it, or null if the mail has only one of them. */
  readonly match: () => TextMatch.TextMatch | null
  /** The kind of the sender with this return path. */
  readonly sender: (envelopeFrom: string) => SenderKind.SenderKind
  /** The kind of the mail with this return path. */
  readonly kind: (envelopeFrom: string) => MailKind
  /** Code and main links of the mail, computed once on demand. */
  readonly extracted: () => Extracted
  /** The address of the From field, or null if unusable. */
  readonly from: string | null
  /** Every address in the From fields, for what must not be evaded by a second author. */
  readonly authors: () => ReadonlyArray<string>
  /** The display name of that address, or null. */
  readonly fromName: string | null
}

/** The results of mailparser for damaged parts. */
export type Mended = ReadonlyMap<TransferEncoding.Decoded, Uint8Array>

/** A parsed message with decoded parts. */
export interface Opened {
  /** Parts with discarded bytes. Unless they are repaired, `parse` is `partial`. */
  readonly damaged: ReadonlyArray<TransferEncoding.Decoded>
  readonly read: (mended?: Mended) => Contents
  /** The text without delivery reports. */
  readonly withoutReports: (mended?: Mended) => string
  /** The attachments with their bytes, in the order of the event. */
  readonly attachments: (mended?: Mended) => ReadonlyArray<Body.Attached>
}

/** Maximum bytes of names and values in the header list of an event. */
const headerBytes = 64 * 1024

/** Maximum listed addresses and references of one field name, because a field of 1 MB must not enlarge the event. */
const mostListed = 1_000

/**
 * Maximum encoded words in charsets that take up to 10 µs each: a fixed number, plus one for a number of header
 * bytes.
 */
const mostRareWords = 200
const bytesOfARareWord = 100

/**
 * Never fails. Omits what cannot be parsed, which `parse` reports. With `keepsBlanks`, plain text has the whitespace at
 * the ends of its quoted-printable lines, which RFC 2045 drops.
 */
export const open = (message: Uint8Array, { keepsBlanks = false } = {}): Opened => {
  const { fields, isComplete, parts } = Parts.split(LineEnds.withFeeds(message))
  const decoded = parts.map(
    (part) => [part, TransferEncoding.decode(part, keepsBlanks && isPlainText(part.header))] as const
  )
  const charset = Body.charsetOfText(decoded.map(([part, { content }]) => ({ ...part, content })))
  const damaged = decoded.flatMap(([, without]) => (without.isWhole ? [] : [without]))
  const body = (mended: Mended = new Map()): Body.Body => {
    const read = Body.read(
      decoded.map(([part, without]) => ({
        ...part,
        header: named(part, charset),
        content: TransferEncoding.content(without, mended.get(without))
      }))
    )
    return { ...read, isComplete: isComplete && read.isComplete && damaged.every((part) => mended.has(part)) }
  }
  return {
    damaged,
    read: (mended) => contents(fields, body(mended), charset),
    withoutReports: (mended) => body(mended).withoutReports(),
    attachments: (mended) => body(mended).attachments
  }
}

/** Text of the mail itself, which is no file. */
const isPlainText = ({ disposition, filename, type }: PartHeader.PartHeader) =>
  type === "text/plain" && filename === null && disposition !== "attachment"

export const read = (message: Uint8Array): Contents => open(message).read()

export const attachment = (message: Uint8Array, index: number): Body.Attached | undefined =>
  open(message).attachments()[index]

/** The fields of a message from its header only. */
export const headersOnly = (message: Uint8Array): Contents => {
  const fields = HeaderBlock.fields(message)
  return contents(fields, undefined, PartHeader.read(fields, false).charset)
}

/** The header of a part, with raw bytes in its file name decoded in the charset of the text. */
const named = ({ fields, header }: Parts.Part, charset: string | undefined): PartHeader.PartHeader =>
  header.filename === null || charset === undefined || fields.every(({ value }) => isAscii(value))
    ? header
    : { ...header, filename: PartHeader.rawFileName(fields, charset) }

const contents = (
  fields: ReadonlyArray<HeaderBlock.HeaderField>,
  body: Body.Body | undefined,
  charset: string | undefined
): Contents => {
  const named = Map.groupBy(fields, ({ name }) => name.toLowerCase())
  const values = new Map<HeaderBlock.HeaderField, string>()
  const bytes = fields.reduce((sum, { value }) => sum + value.length, 0)
  let rareWords = mostRareWords + bytes / bytesOfARareWord
  const valueOf = (one: HeaderBlock.HeaderField): string => {
    const known = values.get(one)
    if (known !== undefined) return known
    const raw = HeaderText.rawValue(one, charset)
    rareWords -= EncodedWords.rare(raw)
    const value = rareWords < 0 ? HeaderText.oneLine(raw) : HeaderText.decoded(raw)
    values.set(one, value)
    return value
  }
  const first = (name: string) => {
    const [found] = named.get(name) ?? []
    return found === undefined ? undefined : valueOf(found) || undefined
  }
  const [from] = named.get("from") ?? []
  const author = from === undefined ? null : Addresses.author(from, charset)
  // Relays prepend another field instead of changing signed ones.
  const recipients = (name: string) => Addresses.recipients(named.get(name) ?? [], mostListed, charset)
  const to = recipients("to")
  const cc = recipients("cc")
  const replyTo = recipients("reply-to")
  const subject = first("subject") ?? ""
  const text = body?.text() ?? ""
  const headers = headerList(fields, valueOf)
  const firsts = HeaderValues.of(headers)
  const seen = body?.seen ?? (() => [])
  const alternative = body?.alternative ?? null
  const compared = once(() => {
    const shown = alternative === null ? null : TextMatch.certainText(seen())
    return { shown, match: alternative === null || shown === null ? null : TextMatch.of(alternative, shown) }
  })
  const visible = once(() => {
    const bare = Invisible.without(text)
    return { text: bare.seen, invisibleCharacters: Invisible.count(subject) + Invisible.count(text, bare) }
  })
  const plain = body?.plain ?? null
  // The HTML, which a person sees, has all its codes. Labels of URLs may differ.
  const isRepeated = () =>
    plain !== null && plain === alternative && compared().match?.isSame === true && !plain.includes("://")
  const said = () => (plain === text ? visible().text : plain === null ? null : Invisible.without(plain).seen)
  const areAllListed = [to, cc, replyTo].every(({ isWhole }) => isWhole)
  return {
    message_id: first("message-id") ?? null,
    from: author?.address ?? null,
    authors: () => (named.get("from") ?? []).flatMap((field) => Addresses.authors(field, charset)),
    fromName: author?.name || null,
    subject,
    text,
    html: body?.html ?? null,
    visible,
    seen,
    match: () => compared().match,
    sender: (envelopeFrom) => SenderKind.of(envelopeFrom, firsts),
    kind: (envelopeFrom) =>
      MailKinds.of({ envelopeFrom, headers: firsts, subject, attachments: body?.attachments ?? [] }),
    extracted: once(() =>
      Extraction.of({
        subject,
        text: isRepeated() ? null : said(),
        html: seen(),
        shown: compared().shown,
        listUnsubscribe: first("list-unsubscribe"),
        listUnsubscribePost: first("list-unsubscribe-post"),
        isList: SenderKind.isList(firsts),
        isReply: first("in-reply-to") !== undefined
      })
    ),
    attachments: (body?.attachments ?? []).map(({ charset: _, content: __, ...metadata }) => metadata),
    headers,
    to: to.mailboxes,
    cc: cc.mailboxes,
    replyTo: replyTo.mailboxes,
    inReplyTo: first("in-reply-to") ?? null,
    references: (first("references") ?? "")
      // White space between two ids is optional (RFC 5322, section 3.6.4).
      .split(/[\s,]+|(?<=>)(?=<)/, mostListed + 1)
      .filter((id) => id !== "")
      .slice(0, mostListed),
    parse: body === undefined ? "headers" : body.isComplete && areAllListed ? "full" : "partial"
  }
}

const headerList = (
  fields: ReadonlyArray<HeaderBlock.HeaderField>,
  valueOf: (field: HeaderBlock.HeaderField) => string
): Contents["headers"] => {
  const headers: Array<Contents["headers"][number]> = []
  let bytes = 0
  for (const field of fields) {
    const value = valueOf(field)
    bytes += field.name.length + Buffer.byteLength(value)
    if (bytes > headerBytes) break
    headers.push({ name: field.name, value })
  }
  return headers
}
