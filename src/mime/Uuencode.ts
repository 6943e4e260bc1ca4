/** A file that stood in the middle of a text, as mail had them before MIME. */
export interface UuencodedFile {
  readonly name: string
  readonly content: Buffer
}

interface Open {
  readonly name: string
  readonly at: number
  readonly chunks: Array<Buffer>
  /** Lines with more zeros at their end than anything else. */
  short: number
  /** The line without bytes has come. */
  isEnded: boolean
}

const begin = /^begin [0-7]{3,4} (\S.{0,254})$/

/** A text without the uuencoded files in it, and those. Only what begins, is uuencoded and ends is one. */
export const extract = (text: string): { readonly text: string; readonly files: ReadonlyArray<UuencodedFile> } => {
  if (!text.startsWith("begin ") && !text.includes("\nbegin ")) return { text, files: [] }
  const files: Array<UuencodedFile> = []
  const kept: Array<string> = []
  let file: Open | undefined
  for (const line of text.split("\n")) {
    kept.push(line)
    const bare = line.trimEnd()
    const [, name] = begin.exec(bare) ?? []
    if (name !== undefined) file = { name, at: kept.length - 1, chunks: [], short: 0, isEnded: false }
    else if (file !== undefined) {
      if (bare === "end") {
        if (file.chunks.length > 0 && (file.short === 0 || (file.isEnded && isRegular(file.chunks)))) {
          files.push({ name: file.name, content: Buffer.concat(file.chunks) })
          kept.length = file.at
        }
        file = undefined
      } else {
        const chunk = decodeLine(line)
        if (chunk === undefined || (file.isEnded && chunk.bytes.length > 0)) file = undefined
        else if (chunk.bytes.length === 0) file.isEnded = true
        else {
          file.chunks.push(chunk.bytes)
          if (chunk.isShort) file.short++
        }
      }
    }
  }
  return files.length === 0 ? { text, files } : { text: kept.join("\n"), files }
}

/** The content of a part whose transfer encoding this is. */
export const decode = (body: Uint8Array): Uint8Array => {
  const latin1 = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1").replaceAll("\r", "")
  const { files } = extract(latin1.trimEnd().endsWith("\nend") ? latin1 : `${latin1.trimEnd()}\nend\n`)
  // What is none is what it is.
  return files[0]?.content ?? body
}

/** All lines but the last have as many bytes: words in capitals do not look like that. */
const isRegular = (chunks: ReadonlyArray<Buffer>): boolean =>
  chunks.slice(0, -1).every(({ length }) => length === chunks[0]?.length)

/** One line: its length in the first character, then four characters for three bytes. Undefined where it is none. */
const decodeLine = (line: string): { readonly bytes: Buffer; readonly isShort: boolean } | undefined => {
  if (!/^[ -`]{0,90}\r?$/.test(line)) return undefined
  // A blank stands for zero, and on its way it may be lost.
  if (line.trim() === "") return { bytes: Buffer.alloc(0), isShort: false }
  const size = (line.charCodeAt(0) - 0x20) & 0x3f
  const units = Math.ceil(size / 3) * 4
  // Trailing blanks are zeros that got lost on the way; a longer line is a checksum or text.
  const data = line.trimEnd().slice(1)
  if (size === 0 ? data.length > 0 : data.length > units + 2) return undefined
  const padded = data.padEnd(units, " ")
  const bytes = Buffer.alloc((units / 4) * 3)
  for (let from = 0, to = 0; from < units; from += 4, to += 3) {
    let bits = 0
    for (let at = from; at < from + 4; at++) bits = (bits << 6) | ((padded.charCodeAt(at) - 0x20) & 0x3f)
    bytes.writeUIntBE(bits, to, 3)
  }
  return { bytes: bytes.subarray(0, size), isShort: data.length < Math.floor(units / 2) }
}
