/**
 * Concatenated UTF-8 payloads, until they are taken. Their strings are released at once, because waiting bytes are
 * outside of the heap and not scanned by the garbage collector.
 */
export class PayloadBytes {
  readonly #usual: number
  #bytes: Buffer
  #length = 0

  /** @param usual the number of bytes to allocate in advance */
  constructor(usual: number) {
    this.#usual = usual
    this.#bytes = Buffer.allocUnsafeSlow(usual)
  }

  /** Number of stored bytes. */
  get length(): number {
    return this.#length
  }

  /**
   * Adds the payloads of one message, and returns the length of each. All or none are added, because the lengths
   * locate the following ones.
   */
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
    // A UTF-16 unit takes at most three bytes. There is nearly always room for that, so nothing is counted.
    if (payloads.reduce((bytes, { length }) => bytes + length * 3, 0) <= free) return
    const needed = payloads.reduce((bytes, payload) => bytes + Buffer.byteLength(payload), 0)
    if (needed <= free) return
    const larger = Buffer.allocUnsafeSlow(this.#length + needed)
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }

  /** All payloads, in memory of their own. */
  take(): ArrayBuffer {
    const taken = new Uint8Array(this.#length)
    taken.set(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    if (this.#bytes.length > this.#usual) this.#bytes = Buffer.allocUnsafeSlow(this.#usual)
    return taken.buffer
  }
}
