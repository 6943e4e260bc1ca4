/** Pieces are many when a sender cuts its message into packets of a few bytes, each with the cost of an object. */
const loose = 1_024

/** Collects a message while it comes, in about the memory of its bytes however small the pieces are. */
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

  clear() {
    this.#pieces = []
    this.#loose = 0
    this.#byteLength = 0
  }

  /** Writes the message into memory that has room for it, behind what is to stand before it. */
  copyInto(target: Uint8Array, offset: number) {
    let at = offset
    for (const piece of this.#pieces) {
      target.set(piece, at)
      at += piece.byteLength
    }
  }

  /** The message alone, in memory of its own: all of what a view is on is copied for a thread. */
  whole(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.#byteLength)
    this.copyInto(bytes, 0)
    return bytes
  }
}
