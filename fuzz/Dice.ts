/** Numbers that look random and come again for the same seed, so that what was found can be found again. */
export interface Dice {
  /** A whole number from 0 up to, and without, `sides`. */
  readonly roll: (sides: number) => number
  readonly oneOf: <A>(things: ReadonlyArray<A>) => A
  /** True so many times in a hundred. */
  readonly chance: (percent: number) => boolean
}

/** Marsaglia's xorshift, of 32 bits. */
export const make = (seed: number): Dice => {
  let state = seed | 1
  const roll = (sides: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % sides
  }
  const oneOf = <A>(things: ReadonlyArray<A>): A => {
    // An array that is read within its length; an empty one is a bug of the caller's.
    const [thing] = things.slice(roll(things.length))
    return thing as A
  }
  return { roll, oneOf, chance: (percent) => roll(100) < percent }
}
