/**
 * Payloads as UTF-8, one behind the other, until they are taken. Their texts are let go at
 * once: what waits is outside of the heap, where the collector does not look at it.
 */
export class PayloadBytes {
  readonly #usual: number
  #bytes: Buffer
  #length = 0

  /** @param usual so many bytes are kept for those to come */
  constructor(usual: number) {
    this.#usual = usual
    this.#bytes = Buffer.allocUnsafeSlow(usual)
  }

  /** Number of stored bytes. */
  get length(): number {
    return this.#length
  }

  /** Adds those of one message, and tells how many bytes each has. All or none: what follows is found by these lengths. */
  add(payloads: ReadonlyArray<string>): ReadonlyArray<number> {
    this.#makeRoom(payloads)
    return payloads.map((payload) => {
      const written = this.#bytes.write(payload, this.#length)
      this.#length += written
      return written
    })
  }

  #makeRoom(payloads: ReadonlyArray<string>) {
    const free = this.#bytes.length - this.#length
    // A unit of UTF-16 takes three bytes at most: nearly always there are as many, and nothing has to be counted.
    if (payloads.reduce((bytes, { length }) => bytes + length * 3, 0) <= free) return
    const needed = payloads.reduce((bytes, payload) => bytes + Buffer.byteLength(payload), 0)
    if (needed <= free) return
    const larger = Buffer.allocUnsafeSlow(this.#length + needed)
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }

  /** All of them, in memory of their own. */
  take(): ArrayBuffer {
    const taken = new Uint8Array(this.#length)
    taken.set(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    if (this.#bytes.length > this.#usual) this.#bytes = Buffer.allocUnsafeSlow(this.#usual)
    return taken.buffer
  }
}
