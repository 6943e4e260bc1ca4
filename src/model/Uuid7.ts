/** Random bytes requested at once. An id takes ten of them. */
const poolBytes = 8_192

/**
 * Makes UUIDv7 (RFC 9562, section 5.7) in text form, without an Effect for each. `millis` is the time, and `random`
 * fills a pool shared by many ids.
 */
export const make = (random: (bytes: number) => Uint8Array) => {
  let pool = Buffer.alloc(0)
  let at = 0
  const id = Buffer.alloc(16)
  return (millis: number): string => {
    if (at + 10 > pool.length) {
      pool = Buffer.from(random(poolBytes))
      at = 0
    }
    id.writeUIntBE(millis, 0, 6)
    pool.copy(id, 6, at, at + 10)
    at += 10
    id.writeUInt8(0x70 | (id.readUInt8(6) & 0x0f), 6)
    id.writeUInt8(0x80 | (id.readUInt8(8) & 0x3f), 8)
    const hex = id.toString("hex")
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }
}

/** The smallest UUIDv7 of a time. Ids are in the order of their times. */
export const lowestAt = (millis: number): string => {
  const hex = Math.max(0, millis).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** The time in a UUIDv7, in milliseconds since 1970. */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
