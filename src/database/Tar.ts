/** A file or a folder in a tar archive. */
export interface Entry {
  /** Relative, without a slash at either end. */
  readonly name: string
  readonly isFolder: boolean
  readonly content: Uint8Array
}

const block = 512

/**
 * Reads an archive written by PGlite: plain ustar, with names of less than 100 bytes. Folders precede their content.
 */
export const entries = (tar: Uint8Array): ReadonlyArray<Entry> => {
  const found: Array<Entry> = []
  // The end of an archive consists of zero blocks.
  for (let at = 0; at < tar.byteLength && tar[at] !== 0; ) {
    const text = (from: number, length: number) => {
      const [field = ""] = Buffer.from(tar.subarray(at + from, at + from + length))
        .toString("latin1")
        .split("\0")
      return field
    }
    const size = Number.parseInt(text(124, 12), 8)
    const start = at + block
    found.push({
      name: text(0, 100).replace(/^\/|\/$/g, ""),
      isFolder: text(156, 1) === "5",
      content: tar.subarray(start, start + size)
    })
    at = start + Math.ceil(size / block) * block
  }
  return found
}
