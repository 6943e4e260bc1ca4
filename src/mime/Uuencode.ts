import * as NodeBuffer from "./NodeBuffer.ts"

/** A file inside a text, as in mail before MIME. */
export interface UuencodedFile {
  readonly name: string
  readonly content: Buffer
}

interface Open {
  readonly name: string
  readonly at: number
  readonly lines: Array<Line>
  /** Lines with more zeros at their end than other content. */
  short: number
  /** The empty line was found. */
  isEnded: boolean
}

const begin = /^begin [0-7]{3,4} (\S.{0,254})$/

/** A line of a file: its written length, and the number of its bytes. */
interface Line {
  readonly data: string
  readonly size: number
}

/** Splits a text into the text without uuencoded files, and these files. Only a complete file counts. */
export const extract = (text: string): { readonly text: string; readonly files: ReadonlyArray<UuencodedFile> } => {
  if (!text.startsWith("begin ") && !text.includes("\nbegin ")) return { text, files: [] }
  const files: Array<UuencodedFile> = []
  const kept: Array<string> = []
  let file: Open | undefined
  for (const line of text.split("\n")) {
    kept.push(line)
    const bare = line.trimEnd()
    const [, name] = begin.exec(bare) ?? []
    if (name !== undefined) file = { name, at: kept.length - 1, lines: [], short: 0, isEnded: false }
    else if (file !== undefined) {
      if (bare === "end") {
        if (file.lines.length > 0 && (file.short === 0 || (file.isEnded && isRegular(file.lines)))) {
          files.push({ name: file.name, content: decoded(file.lines) })
          kept.length = file.at
        }
        file = undefined
      } else {
        const one = lineOf(line)
        if (one === undefined || (file.isEnded && one.size > 0)) file = undefined
        else if (one.size === 0) file.isEnded = true
        else {
          file.lines.push(one)
          if (one.data.length < Math.floor(unitsOf(one.size) / 2)) file.short++
        }
      }
    }
  }
  return files.length === 0 ? { text, files } : { text: kept.join("\n"), files }
}

/** The content of a part with this transfer encoding. */
export const decode = (body: Uint8Array): Uint8Array => {
  const latin1 = NodeBuffer.view(body).toString("latin1").replaceAll("\r", "")
  const { files } = extract(latin1.trimEnd().endsWith("\nend") ? latin1 : `${latin1.trimEnd()}\nend\n`)
  // Other content stays unchanged.
  return files[0]?.content ?? body
}

/** All lines except the last have the same length, unlike words in capitals. */
const isRegular = (lines: ReadonlyArray<Line>): boolean =>
  lines.slice(0, -1).every(({ size }) => size === lines[0]?.size)

/** Number of characters for a number of bytes. */
const unitsOf = (size: number): number => Math.ceil(size / 3) * 4

/**
 * Decodes one line: its length in the first character, then four characters for three bytes. Undefined if malformed.
 */
const lineOf = (line: string): Line | undefined => {
  if (!/^[ -`]{0,90}\r?$/.test(line)) return undefined
  // A space stands for zero, and may be lost in transit.
  if (line.trim() === "") return { data: "", size: 0 }
  const size = (line.charCodeAt(0) - 0x20) & 0x3f
  // Missing trailing spaces are zeros. A longer line has a checksum or is text.
  const data = line.trimEnd().slice(1)
  return (size === 0 ? data.length > 0 : data.length > unitsOf(size) + 2) ? undefined : { data, size }
}

const sextet = (data: string, at: number): number => (at < data.length ? (data.charCodeAt(at) - 0x20) & 0x3f : 0)

const decoded = (lines: ReadonlyArray<Line>): Buffer => {
  // Zeros that truncated lines omit.
  const content = Buffer.alloc(lines.reduce((sum, { size }) => sum + size, 0))
  let start = 0
  for (const { data, size } of lines) {
    const end = start + size
    let to = start
    for (let from = 0; from < data.length && to < end; from += 4) {
      const bits =
        (sextet(data, from) << 18) |
        (sextet(data, from + 1) << 12) |
        (sextet(data, from + 2) << 6) |
        sextet(data, from + 3)
      content[to++] = bits >> 16
      if (to < end) content[to++] = bits >> 8
      if (to < end) content[to++] = bits
    }
    start = end
  }
  return content
}
