const LF = 0x0a
const CR = 0x0d
const EQUALS = 0x3d
const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09

/** The hexadecimal value of each byte, or -1. Accepts lower case. */
const digits = new Int8Array(256).fill(-1)
for (const [value, letter] of [..."0123456789ABCDEF"].entries()) {
  digits[letter.charCodeAt(0)] = value
  digits[letter.toLowerCase().charCodeAt(0)] = value
}
const digit = (byte = 0): number => digits[byte] ?? -1

/**
 * Decodes quoted-printable (RFC 2045, section 6.7). Never fails, and examines each byte a fixed number of times.
 * Whitespace at the end of a line goes, unless `keepsBlanks`, as in the libraries of Python and Ruby.
 */
export const decode = (body: Uint8Array, keepsBlanks = false): Uint8Array =>
  byLine(body, keepsBlanks) ?? unescaped(withoutSoftBreaks(body, keepsBlanks))

/** Decodes in one pass if each line is independent, else undefined. */
const byLine = (body: Uint8Array, keepsBlanks: boolean): Uint8Array | undefined => {
  const content = Buffer.allocUnsafe(body.length)
  let length = 0
  for (let at = 0; at < body.length; ) {
    const feed = body.indexOf(LF, at)
    const stop = feed === -1 ? body.length : feed
    const isPair = feed > at && body[feed - 1] === CR
    const last = isPair ? feed - 1 : stop
    let end = last
    while (end > at && isBlank(body[end - 1])) end--
    const isSoft = end > at && body[end - 1] === EQUALS
    if (isSoft) end--
    else if (keepsBlanks) end = last
    for (; at < end; at++) {
      const byte = body[at] ?? 0
      if (byte === CR) return undefined
      if (byte !== EQUALS) {
        content[length++] = byte
        continue
      }
      // Its digits may be on the next line.
      if (isSoft && at + 2 >= end) return undefined
      const high = digit(body[at + 1])
      const low = digit(body[at + 2])
      const isEscape = high !== -1 && low !== -1
      content[length++] = isEscape ? high * 16 + low : EQUALS
      if (isEscape) at += 2
    }
    if (!isSoft && feed !== -1) {
      if (isPair) content[length++] = CR
      content[length++] = LF
    }
    at = stop + 1
  }
  return content.subarray(0, length)
}

/** Joins the lines. Trailing whitespace was added in transit, says the RFC. */
const withoutSoftBreaks = (body: Uint8Array, keepsBlanks: boolean): Buffer => {
  const joined = Buffer.allocUnsafe(body.length)
  let length = 0
  let lineStart = 0
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0
    if (byte !== LF && byte !== CR) {
      joined[length++] = byte
      continue
    }
    const feed = byte === CR ? afterBlanks(body, at + 1) : at
    const said = withoutBlanks(joined, lineStart, length)
    // A CR without LF also ends trailing whitespace, but is not a soft line break.
    if (body[feed] === LF && endsSoftly(joined, lineStart, said)) {
      length = said - 1
      at = feed
    } else {
      if (!keepsBlanks) length = said
      joined[length++] = byte
    }
    lineStart = length
  }
  const said = withoutBlanks(joined, lineStart, length)
  if (endsSoftly(joined, lineStart, said)) return joined.subarray(0, said - 1)
  return joined.subarray(0, keepsBlanks ? length : said)
}

/** The end of a line without trailing whitespace. */
const withoutBlanks = (bytes: Buffer, start: number, end: number): number => {
  let last = end
  while (last > start && isBlank(bytes[last - 1])) last--
  return last
}

/** The index of the next byte that is not whitespace. */
const afterBlanks = (bytes: Uint8Array, start: number): number => {
  let at = start
  while (isBlank(bytes[at])) at++
  return at
}

const endsSoftly = (bytes: Buffer, start: number, end: number): boolean => end > start && bytes[end - 1] === EQUALS

/** Decodes `=` and two digits in place. Any other `=` stays. */
const unescaped = (joined: Buffer): Buffer => {
  let length = 0
  for (let at = 0; at < joined.length; at++) {
    let byte = joined[at] ?? 0
    if (byte === EQUALS) {
      const high = digit(joined[at + 1])
      const low = digit(joined[at + 2])
      if (high !== -1 && low !== -1) {
        byte = high * 16 + low
        at += 2
      }
    }
    joined[length++] = byte
  }
  return joined.subarray(0, length)
}
