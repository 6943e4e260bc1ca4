/** A map that evicts the entry set longest ago once it has more than `most`. */
export class BoundedMap<Key, Value> {
  readonly #most: number
  /** A Map keeps its entries in the order in which they were added. */
  readonly #entries = new Map<Key, Value>()

  constructor(most: number) {
    this.#most = most
  }

  has(key: Key): boolean {
    return this.#entries.has(key)
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key)
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#most) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      break
    }
  }
}
