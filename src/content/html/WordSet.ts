import { randomInt } from "node:crypto"
import * as Units from "./Units.ts"

/** Letters, digits and marks are parts of words. Scripts without spaces have words of one character. */
const inWord = /^[\p{L}\p{N}\p{M}]/u
const alone =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const isInWord = 1
const isAlone = 2
/** The first half of a character beyond 16 bits. */
const isHalf = 4

const kindOf = (text: string) => (inWord.test(text) ? isInWord : 0) | (alone.test(text) ? isAlone : 0)

/** The unit of the small letter. A sigma at the end of a word is one elsewhere, and the Turkish dotted I is an i. */
const smallOf = (unit: number): number =>
  unit === 0x3c2 ? 0x3c3 : String.fromCharCode(unit).toLowerCase().charCodeAt(0)

let known: Uint32Array | undefined

/** The kind of each UTF-16 unit, above the unit of its small letter. Made at the first use, in some milliseconds. */
const knownUnits = (): Uint32Array => {
  known ??= Uint32Array.from({ length: 0x10000 }, (_, unit) => {
    const kind = unit >= 0xd800 && unit <= 0xdbff ? isHalf : kindOf(String.fromCharCode(unit))
    return (kind << 16) | smallOf(unit)
  })
  return known
}

// Odd and secret, so that nobody can write two words with the same hash.
const secret = () => (randomInt(2 ** 31) * 2 + 1) | 0
const firstFactor = secret()
const secondFactor = secret()

const mixedFirst = (hash: number, unit: number): number => {
  const mixed = Math.imul(hash ^ unit, firstFactor)
  return mixed ^ (mixed >>> 15)
}

const mixedSecond = (hash: number, unit: number): number => {
  const mixed = Math.imul(hash + unit, secondFactor)
  return mixed ^ (mixed >>> 13)
}

/** The place of a word in a table of pairs, or the free one for it. */
const placeOf = (pairs: Int32Array, first: number, second: number): number => {
  const last = pairs.length - 1
  let place = ((first ^ second) << 1) & last
  while (pairs[place] !== 0 && (pairs[place] !== first || pairs[place + 1] !== second)) place = (place + 2) & last
  return place
}

const leastPlaces = 64

/** A number of different words in a table of pairs of 32-bit hashes. Words of a text are too many for strings. */
export class WordSet {
  /** Both hashes of each word, or zeros. At least half of the places are free. */
  #pairs = new Int32Array(2 * leastPlaces)
  /** The places that are taken. */
  #taken: Array<number> = []

  /** The words of the first 64 Ki units of a text, by their letters without case. */
  constructor(text: string) {
    this.#read(text)
  }

  get size(): number {
    return this.#taken.length
  }

  /** The number of words that the other set lacks. */
  missingIn(other: WordSet): number {
    const [pairs, others] = [this.#pairs, other.#pairs]
    let missing = 0
    for (const place of this.#taken) {
      if (others[placeOf(others, pairs[place] ?? 0, pairs[place + 1] ?? 0)] === 0) missing++
    }
    return missing
  }

  #read(text: string): void {
    const all = knownUnits()
    const units = Units.of(text)
    const length = Math.min(text.length, Units.most)
    let first = 0
    let second = 0
    let isInside = false
    for (let at = 0; at < length; at++) {
      const found = all[units[at] ?? 0] ?? 0
      let kind = found >>> 16
      let unit = found & 0xffff
      const pair = kind === isHalf && at + 1 < length ? text.slice(at, at + 2) : ""
      if (pair !== "") kind = kindOf(pair)
      if ((kind & isInWord) === 0 && isInside) {
        this.#add(first, second)
        first = 0
        second = 0
        isInside = false
      }
      if ((kind & ~isHalf) === 0) continue
      if (pair !== "") {
        const small = pair.toLowerCase()
        first = mixedFirst(first, small.charCodeAt(0))
        second = mixedSecond(second, small.charCodeAt(0))
        unit = small.charCodeAt(1)
        at++
      }
      first = mixedFirst(first, unit)
      second = mixedSecond(second, unit)
      if (kind === isInWord || isInside) isInside = true
      else {
        this.#add(first, second)
        first = 0
        second = 0
      }
    }
    if (isInside) this.#add(first, second)
  }

  #add(hash: number, second: number): void {
    const pairs = this.#pairs
    const first = hash || 1
    const place = placeOf(pairs, first, second)
    if (pairs[place] !== 0) return
    pairs[place] = first
    pairs[place + 1] = second
    this.#taken.push(place)
    if (4 * this.#taken.length > pairs.length) this.#grow()
  }

  #grow(): void {
    const [smaller, taken] = [this.#pairs, this.#taken]
    const pairs = new Int32Array(2 * smaller.length)
    this.#pairs = pairs
    this.#taken = taken.map((from) => {
      const [first, second] = [smaller[from] ?? 0, smaller[from + 1] ?? 0]
      const place = placeOf(pairs, first, second)
      pairs[place] = first
      pairs[place + 1] = second
      return place
    })
  }
}
