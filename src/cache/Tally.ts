/** How much of something each owner holds, and all of them together. Forgets owners that hold nothing. */
export class Tally {
  readonly #held = new Map<string, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  /** Owners that hold something. */
  get owners(): number {
    return this.#held.size
  }

  /** Owners that hold this much or more. */
  ownersOf(least: number): ReadonlyArray<string> {
    return [...this.#held].flatMap(([owner, held]) => (held >= least ? [owner] : []))
  }

  of(owner: string): number {
    return this.#held.get(owner) ?? 0
  }

  /** Adds to what an owner holds; a negative amount is given back. */
  add(owner: string, amount: number): void {
    this.#total += amount
    const held = this.of(owner) + amount
    if (held === 0) this.#held.delete(owner)
    else this.#held.set(owner, held)
  }
}
