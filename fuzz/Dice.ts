/** A seeded pseudorandom generator, so that a finding can be reproduced. */
export interface Dice {
  /** An integer from 0 up to, but excluding, `sides`. */
  readonly roll: (sides: number) => number
  readonly oneOf: <A>(things: ReadonlyArray<A>) => A
  /** True with this probability in percent. */
  readonly chance: (percent: number) => boolean
}

/** Marsaglia's xorshift with 32 bits. */
export const make = (seed: number): Dice => {
  let state = seed | 1
  const roll = (sides: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % sides
  }
  const oneOf = <A>(things: ReadonlyArray<A>): A => {
    // The index is within the length. An empty array is a bug of the caller.
    const [thing] = things.slice(roll(things.length))
    return thing as A
  }
  return { roll, oneOf, chance: (percent) => roll(100) < percent }
}
