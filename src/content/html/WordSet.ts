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

let kinds: Uint8Array | undefined

/** The kind of each UTF-16 unit. Made at the first use, in some milliseconds. */
const kindsOfUnits = (): Uint8Array => {
  kinds ??= Uint8Array.from({ length: 0x10000 }, (_, unit) =>
    unit >= 0xd800 && unit <= 0xdbff ? isHalf : kindOf(String.fromCharCode(unit))
  )
  return kinds
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

  /** The words of a text in lower case. */
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
    const kinds = kindsOfUnits()
    const units = Units.of(text)
    const length = Math.min(text.length, Units.most)
    let first = 0
    let second = 0
    let isInside = false
    for (let at = 0; at < length; at++) {
      const unit = units[at] ?? 0
      let kind = kinds[unit] ?? 0
      const isPair = kind === isHalf && at + 1 < length
      if (isPair) kind = kindOf(text.slice(at, at + 2))
      if ((kind & isInWord) === 0 && isInside) {
        this.#add(first, second)
        first = 0
        second = 0
        isInside = false
      }
      if ((kind & ~isHalf) === 0) continue
      first = mixedFirst(first, unit)
      second = mixedSecond(second, unit)
      if (isPair) {
        const other = units[++at] ?? 0
        first = mixedFirst(first, other)
        second = mixedSecond(second, other)
      }
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
