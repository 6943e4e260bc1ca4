import * as HeaderBlock from "./HeaderBlock.ts"
import * as NodeBuffer from "./NodeBuffer.ts"
import * as PartHeader from "./PartHeader.ts"

/** A leaf part with its raw bytes. */
export interface Part {
  readonly header: PartHeader.PartHeader
  readonly fields: ReadonlyArray<HeaderBlock.HeaderField>
  readonly body: Uint8Array
  /** The outermost multipart/alternative around it. */
  readonly alternative: number | undefined
  /** The first part of its parent, or the whole message. */
  readonly isFirst: boolean
  readonly isRoot: boolean
}

/** The leaf parts of a message in order, and whether the list is complete. */
export interface Parts {
  /** The header of the message itself. */
  readonly fields: ReadonlyArray<HeaderBlock.HeaderField>
  readonly parts: ReadonlyArray<Part>
  readonly isComplete: boolean
}

/** Limits the cost. Real mail has fewer. */
const mostParts = 5_000

/** Maximum parts with a header, empty ones included. */
const mostHeaders = 2 * mostParts

interface Multipart {
  readonly header: PartHeader.PartHeader
  readonly fields: ReadonlyArray<HeaderBlock.HeaderField>
  readonly start: number
  readonly boundary: string
  readonly alternative: number | undefined
  readonly isFirst: boolean
  readonly isDigest: boolean
  children: number
}

const LF = 0x0a
const CR = 0x0d

/**
 * Splits a message at its boundary lines (RFC 2046, section 5.1) to any depth. Whitespace after a boundary is
 * padding, and the boundary of an outer multipart ends all inner ones. Examines each line a fixed number of times.
 */
export const split = (message: Uint8Array): Parts => {
  const bytes = NodeBuffer.view(message)
  const parts: Array<Part> = []
  const open: Array<Multipart> = []
  const positions = new Map<string, Array<number>>()
  let leaf: (Omit<Part, "body"> & { readonly start: number }) | undefined
  let multiparts = 0
  /** Parts with a header so far, empty ones included. */
  let headers = 0
  let rootFields: ReadonlyArray<HeaderBlock.HeaderField> = []

  const endLeaf = (end: number) => {
    if (leaf === undefined) return
    const { start, ...part } = leaf
    // Two adjacent boundary lines.
    if (end > start || part.isRoot || part.header.type !== "text/plain" || part.header.filename !== null) {
      parts.push({ ...part, body: message.subarray(start, Math.max(start, end)) })
    }
    leaf = undefined
  }
  const closeTo = (depth: number, end: number) => {
    while (open.length > depth) {
      const multipart = open.pop()
      if (multipart === undefined) return
      positions.get(multipart.boundary)?.pop()
      if (multipart.children > 0) continue
      // Its boundary is missing, so its content is text.
      const { alternative, fields, header, isFirst, start } = multipart
      leaf = {
        header: { ...header, type: "text/plain" },
        fields,
        start,
        alternative,
        isFirst,
        isRoot: open.length === 0
      }
      endLeaf(end)
    }
  }
  const begin = (start: number): number => {
    const parent = open.at(-1)
    const isRoot = parent === undefined
    const { end, fields } = HeaderBlock.read(message, start, !isRoot)
    if (isRoot) rootFields = fields
    if (fields.length > 0) headers++
    const header = PartHeader.read(fields, parent?.isDigest === true)
    const isFirst = isRoot || parent.children === 0
    if (parent !== undefined) parent.children++
    const isMultipart = header.type?.startsWith("multipart/") === true
    // Only for the whole message, because it would be quadratic for each part.
    const isUsed =
      header.boundary !== undefined && (isRoot ? bytes.includes(`--${header.boundary}`, end, "latin1") : isMultipart)
    const boundary = isUsed ? header.boundary : isMultipart ? firstDashes(bytes, end) : undefined
    const alternative = parent?.alternative ?? (header.type === "multipart/alternative" ? multiparts : undefined)
    if (boundary === undefined || boundary === "") {
      leaf = {
        header: isMultipart ? { ...header, type: "text/plain" } : header,
        fields,
        start: end,
        alternative,
        isFirst,
        isRoot
      }
    } else {
      multiparts++
      const levels = positions.get(boundary) ?? []
      positions.set(boundary, levels)
      levels.push(open.length)
      open.push({
        header,
        fields,
        start: end,
        boundary,
        alternative,
        isFirst,
        isDigest: header.type === "multipart/digest",
        children: 0
      })
    }
    return end
  }

  let at = begin(0)
  while (open.length > 0 && at < bytes.length && parts.length < mostParts && headers < mostHeaders) {
    const start = nextDashes(bytes, at)
    if (start === -1) break
    const feed = bytes.indexOf(LF, start)
    const end = feed === -1 ? bytes.length : feed + 1
    const line = bytes.toString("latin1", start + 2, end).trimEnd()
    const closing = line.endsWith("--") ? line.slice(0, -2) : undefined
    const opened = positions.get(line)?.at(-1)
    const closed = opened === undefined && closing !== undefined ? positions.get(closing)?.at(-1) : undefined
    at = end
    const depth = opened ?? closed
    if (depth === undefined) continue
    const before = withoutLineEnd(bytes, start)
    endLeaf(before)
    closeTo(depth + 1, before)
    if (opened === undefined) closeTo(depth, before)
    else at = begin(end)
  }
  const isComplete = parts.length < mostParts && headers < mostHeaders
  if (isComplete) {
    endLeaf(bytes.length)
    closeTo(0, bytes.length)
  }
  return { fields: rootFields, parts, isComplete }
}

/** The start of the next line with two dashes, this one included. */
const nextDashes = (bytes: Buffer, from: number): number => {
  if (bytes[from] === 0x2d && bytes[from + 1] === 0x2d && (from === 0 || bytes[from - 1] === LF)) return from
  const feed = bytes.indexOf("\n--", from, "latin1")
  return feed === -1 ? -1 : feed + 1
}

/** The line end before a boundary belongs to it (RFC 2046, section 5.1.1). */
const withoutLineEnd = (bytes: Buffer, end: number): number => {
  if (bytes[end - 1] !== LF) return end
  return bytes[end - 2] === CR ? end - 2 : end - 1
}

/**
 * The boundary of a multipart with none or a wrong one: the first line with dashes before a header or an empty line.
 */
const firstDashes = (bytes: Buffer, from: number): string | undefined => {
  const start = nextDashes(bytes, from)
  if (start === -1) return undefined
  const [line = "", next = ""] = bytes.toString("latin1", start + 2, start + 1_024).split(/\r?\n/)
  return next === "" || /^content-[a-z-]+:/i.test(next) ? line.trimEnd() : undefined
}
