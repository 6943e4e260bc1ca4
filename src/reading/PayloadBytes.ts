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

  /** How many bytes there are. */
  get length(): number {
    return this.#length
  }

  /** Adds one, and tells how many bytes it has. */
  add(payload: string): number {
    // A unit of UTF-16 takes three bytes at most.
    const room = this.#length + payload.length * 3
    if (room > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(room, 2 * this.#bytes.length))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    const written = this.#bytes.write(payload, this.#length)
    this.#length += written
    return written
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
