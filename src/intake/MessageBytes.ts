/**
 * The number of chunks above which they are merged, because a sender may send packets of a few bytes, each with the
 * cost of an object.
 */
const loose = 1_024

/** Collects an incoming message in about the memory of its bytes, however small the chunks are. */
export class MessageBytes {
  #pieces: Array<Uint8Array> = []
  #loose = 0
  #byteLength = 0

  get pieces(): ReadonlyArray<Uint8Array> {
    return this.#pieces
  }

  get byteLength(): number {
    return this.#byteLength
  }

  push(piece: Uint8Array) {
    this.#pieces.push(piece)
    this.#byteLength += piece.byteLength
    if (++this.#loose < loose) return
    this.#pieces.push(Buffer.concat(this.#pieces.splice(-loose)))
    this.#loose = 0
  }

  /** The first bytes, up to `most`. Not copied. */
  first(most: number): ReadonlyArray<Uint8Array> {
    const found: Array<Uint8Array> = []
    let left = most
    for (const piece of this.#pieces) {
      if (left <= 0) break
      found.push(piece.byteLength > left ? piece.subarray(0, left) : piece)
      left -= piece.byteLength
    }
    return found
  }

  clear() {
    this.#pieces = []
    this.#loose = 0
    this.#byteLength = 0
  }

  /** Copies the message into a buffer, after its prefix. */
  copyInto(target: Uint8Array, offset: number) {
    let at = offset
    for (const piece of this.#pieces) {
      target.set(piece, at)
      at += piece.byteLength
    }
  }

  /** The same, and keeps that copy in the place of the chunks, which can be freed. */
  moveInto(target: Uint8Array, offset: number) {
    this.copyInto(target, offset)
    this.#pieces = [target.subarray(offset, offset + this.#byteLength)]
    this.#loose = 0
  }

  /** Copies the message into its own memory, because a thread receives the whole buffer of a view. */
  whole(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.#byteLength)
    this.copyInto(bytes, 0)
    return bytes
  }
}
