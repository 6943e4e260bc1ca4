import * as Charset from "./Charset.ts"

interface Word {
  readonly start: number
  readonly end: number
  readonly charset: string
  readonly encoding: string
  readonly text: string
}

/**
 * Decodes encoded words (RFC 2047). Adjacent words of one charset may share a character and form one run. Short runs
 * cost up to 10 µs each, so only 64 are decoded, plus one for each 256 units. The rest stays unchanged.
 */
export const decode = (text: string): string => {
  let room = 64 + text.length / 256
  let decoded = ""
  let at = 0
  let run: Array<Word> = []
  const flush = () => {
    const [first] = run
    if (first !== undefined) decoded += Charset.decode(bytes(first.encoding, run), first.charset)
    run = []
  }
  for (const word of words(text)) {
    const between = text.slice(at, word.start)
    const [first] = run
    if (first === undefined || between.trim() !== "") {
      flush()
      decoded += between
    } else if (first.charset !== word.charset || first.encoding !== word.encoding) flush()
    if (run.length === 0 && room-- < 1) {
      at = word.start
      break
    }
    run.push(word)
    at = word.end
  }
  flush()
  return decoded + text.slice(at)
}

/** Bytes as Latin-1. Those beyond ASCII inside Q-encoded words are escaped, because they have the word's charset. */
export const escapeRaw = (latin1: string): string => {
  if (!latin1.includes("=?") || !/[\x80-\xff]/.test(latin1)) return latin1
  let escaped = ""
  let at = 0
  for (const { encoding, end, start } of words(latin1)) {
    escaped += latin1.slice(at, start)
    const word = latin1.slice(start, end)
    escaped +=
      encoding === "q"
        ? word.replace(/[\x80-\xff]/g, (byte) => `=${byte.charCodeAt(0).toString(16).padStart(2, "0")}`)
        : word
    at = end
  }
  return escaped + latin1.slice(at)
}

const rareWord = /=\?(?!(?:utf-?8|us-ascii|iso-8859-1|windows-1252)[?*])[^?\s"]{1,60}\?[bq]\?/gi

/** The number of words in charsets that are slow to decode. */
export const rare = (text: string): number => (text.includes("=?") ? (text.match(rareWord)?.length ?? 0) : 0)

const head = /=\?([^?\s"]{1,60})\?([bq])\?/iy

/** Every encoded word, in order. Examines each character a fixed number of times. */
function* words(text: string): Generator<Word> {
  let from = 0
  for (;;) {
    const start = text.indexOf("=?", from)
    if (start === -1) return
    head.lastIndex = start
    const [found, charset, encoding] = head.exec(text) ?? []
    if (found === undefined || charset === undefined || encoding === undefined) {
      from = start + 2
      continue
    }
    const end = text.indexOf("?=", start + found.length)
    if (end === -1) return
    const inner = text.slice(start + found.length, end)
    // An unterminated word followed by another one.
    const another = inner.lastIndexOf("=?")
    if (another !== -1 && /^=\?[^?\s"]{1,60}\?[bq]/i.test(inner.slice(another, another + 64))) {
      from = start + found.length + another
      continue
    }
    yield { start, end: end + 2, charset: charset.toLowerCase(), encoding: encoding.toLowerCase(), text: inner }
    from = end + 2
  }
}

const bytes = (encoding: string, run: ReadonlyArray<Word>): Buffer => {
  const text = run.map((word) => word.text).join("")
  if (encoding === "b") {
    // Each word may have its own padding.
    return Buffer.concat(text.split(/=+/).map((quanta) => Buffer.from(quanta, "base64")))
  }
  const latin1 = Buffer.from(text)
    .toString("latin1")
    .replaceAll("_", " ")
    .replace(/=\s*([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(latin1, "latin1")
}
