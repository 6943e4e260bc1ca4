const write = (text: string, { buffer, byteLength, byteOffset }: Uint16Array<ArrayBuffer>): void => {
  Buffer.from(buffer, byteOffset, byteLength).write(text, "utf16le")
}

/** The UTF-16 units of a text and a zero. A step through an array takes a third of one through a string. */
export const copy = (text: string): Uint16Array => {
  const units = new Uint16Array(text.length + 1)
  write(text, units)
  return units
}

/** Maximum length of a text in the shared array. */
export const most = 64 * 1024

const shared = new Uint16Array(most + 1)

/** The first units of a text and a zero in a shared array, until the next call. */
export const of = (text: string): Uint16Array => {
  write(text, shared)
  shared[Math.min(text.length, most)] = 0
  return shared
}
