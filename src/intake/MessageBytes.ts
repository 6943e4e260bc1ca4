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

  /** The first chunks, with at least `most` bytes if there are as many. Not copied. */
  first(most: number): ReadonlyArray<Uint8Array> {
    let count = 0
    for (let bytes = 0; bytes < most && count < this.#pieces.length; count++) {
      bytes += this.#pieces[count]?.byteLength ?? 0
    }
    return this.#pieces.slice(0, count)
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

  /** Copies the message into its own memory, because a thread receives the whole buffer of a view. */
  whole(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.#byteLength)
    this.copyInto(bytes, 0)
    return bytes
  }
}
