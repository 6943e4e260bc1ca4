import { createHash, sign } from "node:crypto"
import * as SenderZone from "./SenderZone.ts"

// A literal implementation of RFC 6376 for text with one character for each byte. Signs any input.

const relaxedLine = (line: string) => line.replace(/[ \t]+$/, "").replace(/[ \t]+/g, " ")

const relaxedField = (line: string) => {
  const colon = line.indexOf(":")
  return `${line.slice(0, colon).trim().toLowerCase()}:${relaxedLine(line.slice(colon + 1).replaceAll("\r\n", "")).replace(/^ /, "")}`
}

const nameOf = (line: string) =>
  line
    .slice(0, Math.max(0, line.indexOf(":")))
    .trim()
    .toLowerCase()

/** The hash of a canonicalized body. A bare LF counts as a line end. */
export const bodyHash = (body: string, form: string): string => {
  const lines = body.replace(/(?<!\r)\n/g, "\r\n").split("\r\n")
  const kept = form === "relaxed" ? lines.map(relaxedLine) : lines
  while (kept.at(-1) === "") kept.pop()
  const canonical = kept.length === 0 && form === "relaxed" ? "" : `${kept.join("\r\n")}\r\n`
  return createHash("sha256").update(canonical, "latin1").digest("base64")
}

/** The `b=` value in base64 of a field with this text before and after it. */
export const signature = (options: {
  readonly kind: SenderZone.KeyKind
  readonly form: string
  readonly fields: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
  readonly before: string
  readonly behind: string
}): string => {
  const { before, behind, fields, form, kind, names } = options
  const write = (line: string) => (form === "relaxed" ? relaxedField(line) : line)
  const left = [...fields]
  const signed = names.flatMap((name) => {
    const at = left.findLastIndex((line) => nameOf(line) === name.trim().toLowerCase())
    return at === -1 ? [] : left.splice(at, 1).map((line) => `${write(line)}\r\n`)
  })
  const data = Buffer.from(signed.join("") + write(before + behind), "latin1")
  const key = SenderZone.privateKey(kind)
  const bytes = kind === "ed" ? sign(null, createHash("sha256").update(data).digest(), key) : sign("sha256", data, key)
  return bytes.toString("base64")
}
