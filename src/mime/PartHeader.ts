import { isAscii } from "node:buffer"
import libmime from "libmime"
import * as FileName from "./FileName.ts"
import type { HeaderField } from "./HeaderBlock.ts"
import * as HeaderText from "./HeaderText.ts"
import * as LineEnds from "./LineEnds.ts"
import { once } from "./Once.ts"

/** The content fields of a part's header (RFC 2045, RFC 2183), the first of each name. */
export interface PartHeader {
  /** Null for an invalid field. */
  readonly type: string | null
  /** Its bytes as Latin-1, because it is compared before a charset is known. */
  readonly boundary: string | undefined
  readonly charset: string | undefined
  readonly flowed: boolean
  readonly delSp: boolean
  readonly encoding: "base64" | "quoted-printable" | "uuencode" | "none"
  readonly disposition: string | null
  readonly filename: string | null
  readonly contentId: string | null
}

/** Maximum length of a field to parse. */
const longest = 64 * 1024

export const read = (fields: ReadonlyArray<HeaderField>, isInDigest: boolean): PartHeader =>
  fields.length > 0 ? ofFields(fields, isInDigest) : isInDigest ? emptyInDigest() : empty()

const ofFields = (fields: ReadonlyArray<HeaderField>, isInDigest: boolean): PartHeader => {
  const field = (name: string) => fields.find((candidate) => candidate.name.toLowerCase() === name)
  const first = (name: string) => {
    const found = field(name)
    return found && HeaderText.rawValue(found).slice(0, longest)
  }
  const typeField = first("content-type")
  const typeBytes = field("content-type")?.value ?? new Uint8Array()
  const dispositionField = first("content-disposition") ?? ""
  const contentType = libmime.parseHeaderValue(typeField ?? "")
  const contentDisposition = libmime.parseHeaderValue(dispositionField)
  const parameter = (name: string) => contentType.params[name] || bare(typeField ?? "", name)
  const boundary = parameter("boundary")?.trimEnd() || undefined
  const disposition = token(contentDisposition.value)
  const filename = nameOf(contentDisposition, contentType)
  return {
    type:
      typeField === undefined
        ? untyped(isInDigest, disposition, filename)
        : mediaType(contentType.value || "", boundary !== undefined),
    boundary:
      boundary === undefined || isAscii(typeBytes)
        ? boundary
        : libmime
            .parseHeaderValue(LineEnds.unfolded(Buffer.from(typeBytes).toString("latin1")))
            .params.boundary?.trimEnd(),
    charset: parameter("charset"),
    flowed: contentType.params.format?.toLowerCase() === "flowed",
    delSp: contentType.params.delsp?.toLowerCase() === "yes",
    encoding: encoding(first("content-transfer-encoding") ?? ""),
    disposition,
    filename,
    contentId: HeaderText.oneLine(first("content-id") ?? "") || null
  }
}

/** An empty header, because many parts consist of boundary lines only. */
const empty = once(() => ofFields([], false))
const emptyInDigest = once(() => ofFields([], true))

/** A raw file name, decoded in the charset of the text. */
export const rawFileName = (fields: ReadonlyArray<HeaderField>, charset: string): string | null => {
  const [type, disposition] = ["content-type", "content-disposition"].map((name) => {
    const found = fields.find((candidate) => candidate.name.toLowerCase() === name)
    return libmime.parseHeaderValue(found === undefined ? "" : HeaderText.rawValue(found, charset).slice(0, longest))
  })
  return nameOf(disposition, type)
}

type Parsed = ReturnType<typeof libmime.parseHeaderValue>

const nameOf = (disposition: Parsed | undefined, type: Parsed | undefined): string | null =>
  FileName.sanitise(HeaderText.decoded(disposition?.params.filename || type?.params.name || ""))

/**
 * The type of a part without one: text (RFC 2045, section 5.2), a message in a digest, or the type of its file name.
 */
const untyped = (isInDigest: boolean, disposition: string | null, filename: string | null): string => {
  if (isInDigest) return "message/rfc822"
  const extension = /\.([^.]+)$/.exec(filename ?? "")?.[1]
  if (extension !== undefined) return libmime.detectMimeType(extension)
  return disposition === "attachment" ? "application/octet-stream" : "text/plain"
}

const mediaType = (value: string, hasBoundary: boolean): string | null => {
  const [, type, subtype] = /^\s*([\w!#$&^.+-]+)\s*\/\s*([\w!#$&^.+-]+)/.exec(value) ?? []
  if (type !== undefined && subtype !== undefined) return `${type}/${subtype}`.toLowerCase()
  if (/^multipart\b/i.test(value) && hasBoundary) return "multipart/mixed"
  if (/^text\W*html\b/i.test(value)) return "text/html"
  return /^text\b/i.test(value) ? "text/plain" : null
}

/** A parameter after a missing semicolon. */
const bare = (field: string, name: string): string | undefined =>
  field.toLowerCase().includes(name)
    ? new RegExp(`[\\s;]${name}\\s*=\\s*(?:"([^"]+)"|([^\\s";]+))`, "i")
        .exec(field)
        ?.slice(1)
        .find((value) => value !== undefined)
    : undefined

/** A disposition must be a token. */
const token = (value: string | false): string | null =>
  /^[\w!#$&^.+-]+(?=$|[\s;,])/.exec(value || "")?.[0].toLowerCase() ?? null

const encoding = (value: string): PartHeader["encoding"] => {
  const [name] = /[\w-]+/.exec(value.replace(/\([^()]*\)/g, "").toLowerCase()) ?? []
  switch (name) {
    case "base64":
    case "quoted-printable":
      return name
    case "uuencode":
    case "x-uuencode":
    case "uue":
    case "x-uue":
      return "uuencode"
    default:
      return "none"
  }
}
