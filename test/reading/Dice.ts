/** A seeded pseudorandom generator: the same seed yields the same sequence. */
export interface Dice {
  /** An integer below this number. */
  below(limit: number): number
  /** True once in this many times on average. */
  oneIn(times: number): boolean
  pick<A>(choices: readonly [A, ...Array<A>]): A
  /** The usual value, except once in this many times. Calm dice deviate less often. */
  mostly<A>(usual: A, times: number, choices: readonly [A, ...Array<A>]): A
  shuffle<A>(list: ReadonlyArray<A>): Array<A>
  /** Up to this many of the pieces, concatenated. */
  some(most: number, pieces: readonly [string, ...Array<string>]): string
}

export const make = (seed: number, calm = 1): Dice => {
  let state = seed >>> 0
  // The generator mulberry32.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
  const below = (limit: number) => Math.floor(next() * limit)
  const oneIn = (times: number) => below(times) === 0
  const pick = <A>(choices: readonly [A, ...Array<A>]): A => choices[below(choices.length)] ?? choices[0]
  return {
    below,
    oneIn,
    pick,
    mostly: (usual, times, choices) => (oneIn(times * calm) ? pick(choices) : usual),
    shuffle: (list) =>
      list
        .map((entry) => ({ entry, at: next() }))
        .sort((one, other) => one.at - other.at)
        .map(({ entry }) => entry),
    some: (most, pieces) => Array.from({ length: below(most + 1) }, () => pick(pieces)).join("")
  }
}
