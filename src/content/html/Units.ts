/** Maximum length of a text in the array. */
export const most = 64 * 1024

const bytes = Buffer.alloc(2 * most)
const units = new Uint16Array(bytes.buffer, bytes.byteOffset, most)

/**
 * The first UTF-16 units of a text, until the next call: a step through an array takes a third of one through a string.
 * The rest of the array has other text.
 */
export const of = (text: string): Uint16Array => {
  bytes.write(text, "utf16le")
  return units
}
