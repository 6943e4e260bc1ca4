const PLUS = 0x2b
const MINUS = 0x2d

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/** The six bits of each base64 letter, 64 for other bytes. */
const values = new Uint8Array(256).fill(64)
for (const [value, letter] of [...letters].entries()) values[letter.charCodeAt(0)] = value

/**
 * Decodes UTF-7 (RFC 2152). Examines each byte once, because libraries decode each shifted run separately, at the
 * cost of 50 bytes of text.
 */
export const decode = (bytes: Uint8Array): string => {
  // A byte yields at most one unit, and a byte order mark at the start of a run none.
  const units = Buffer.allocUnsafe(bytes.length * 2)
  let length = 0
  const put = (unit: number) => {
    units[length++] = unit & 0xff
    units[length++] = unit >> 8
  }
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte !== PLUS) {
      put(byte < 0x80 ? byte : 0xfffd)
      continue
    }
    const start = ++at
    let bits = 0
    let held = 0
    let isFirst = true
    for (; at < bytes.length; at++) {
      const value = values[bytes[at] ?? 0] ?? 64
      if (value === 64) break
      bits = ((bits << 6) | value) & 0x3fffff
      held += 6
      if (held < 16) continue
      held -= 16
      const unit = (bits >> held) & 0xffff
      if (!isFirst || unit !== 0xfeff) put(unit)
      isFirst = false
    }
    if (bytes[at] === MINUS) {
      if (at === start) put(PLUS)
    } else at--
  }
  return units.toString("utf16le", 0, length)
}
