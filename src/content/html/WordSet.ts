import { randomInt } from "node:crypto"
import * as Units from "./Units.ts"

/** Letters, digits and marks are parts of words. Scripts without spaces have words of one character. */
const inWord = /^[\p{L}\p{N}\p{M}]/u
const alone =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const isInWord = 1
const isAlone = 2
const isSpace = 4
const isWord = isInWord | isAlone

const kindOf = (text: string) =>
  (inWord.test(text) ? isInWord : 0) | (alone.test(text) ? isAlone : 0) | (/\s/.test(text) ? isSpace : 0)

const COLON = 0x3a
const DOT = 0x2e
const SLASH = 0x2f

/** The unit of the small letter. A sigma at the end of a word is one elsewhere, and the Turkish dotted I is an i. */
const smallOf = (unit: number): number =>
  unit === 0x3c2 ? 0x3c3 : String.fromCharCode(unit).toLowerCase().charCodeAt(0)

let known: Uint32Array | undefined

/**
 * The kind of each UTF-16 unit, above the unit of its small letter. Made at the first use, in some milliseconds. Halves
 * of characters beyond 16 bits are words, so that no text of them goes unnoticed.
 */
const knownUnits = (): Uint32Array => {
  known ??= Uint32Array.from({ length: 0x10000 }, (_, unit) => {
    const kind = unit >= 0xd800 && unit <= 0xdfff ? isAlone : kindOf(String.fromCharCode(unit))
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

const firstOf = (word: string): number => {
  let hash = 0
  for (let at = 0; at < word.length; at++) hash = mixedFirst(hash, (isInWord << 16) | word.charCodeAt(at))
  return hash
}
const mailto = firstOf("mailto")
const www = firstOf("www")

/** Whether a URL begins with the word that ends here. */
const isAddress = (units: Uint16Array, end: number, first: number): boolean => {
  const unit = units[end]
  if (unit === COLON) return first === mailto || (units[end + 1] === SLASH && units[end + 2] === SLASH)
  return unit === DOT && first === www
}

const spaceAfter = (kinds: Uint32Array, units: Uint16Array, from: number, length: number): number => {
  let at = from
  while (at < length && (kinds[units[at] ?? 0] ?? 0) >>> 16 !== isSpace) at++
  return at
}

/** The place of a word in a table of pairs, or the free one for it. */
const placeOf = (pairs: Int32Array, first: number, second: number): number => {
  const last = pairs.length - 1
  let place = ((first ^ second) << 1) & last
  while (pairs[place] !== 0 && (pairs[place] !== first || pairs[place + 1] !== second)) place = (place + 2) & last
  return place
}

const leastPlaces = 64

/** The units of text for a place at first. */
const unitsOfAPlace = 8

/** A number of different words in a table of pairs of 32-bit hashes. Words of a text are too many for strings. */
export class WordSet {
  size = 0
  /** Both hashes of each word, or zeros. At least half of the places are free. */
  #pairs: Int32Array

  /** The words of the first 64 Ki units of a text without URLs, by their letters without case. */
  constructor(text: string) {
    const length = Math.min(text.length, Units.most)
    let places = leastPlaces
    while (places * unitsOfAPlace < length) places *= 2
    this.#pairs = new Int32Array(2 * places)
    this.#read(text, length)
  }

  /** The number of words that the other set lacks. */
  missingIn(other: WordSet): number {
    const [pairs, others] = [this.#pairs, other.#pairs]
    let missing = 0
    for (let at = 0; at < pairs.length; at += 2) {
      const first = pairs[at] ?? 0
      if (first !== 0 && others[placeOf(others, first, pairs[at + 1] ?? 0)] === 0) missing++
    }
    return missing
  }

  #read(text: string, length: number): void {
    const all = knownUnits()
    const units = Units.of(text)
    let first = 0
    let second = 0
    let isInside = false
    // The zero behind the text ends the last word.
    for (let at = 0; at <= length; at++) {
      let found = all[units[at] ?? 0] ?? 0
      while (found >>> 16 === isInWord) {
        first = mixedFirst(first, found)
        second = mixedSecond(second, found)
        isInside = true
        found = all[units[++at] ?? 0] ?? 0
      }
      const kind = found >>> 16
      if (isInside && (kind & isInWord) === 0) {
        if (isAddress(units, at, first)) at = spaceAfter(all, units, at, length)
        else this.#add(first, second)
        first = 0
        second = 0
        isInside = false
      }
      if ((kind & isWord) === 0) continue
      first = mixedFirst(first, found)
      second = mixedSecond(second, found)
      if (kind === isInWord || isInside) isInside = true
      else {
        this.#add(first, second)
        first = 0
        second = 0
      }
    }
  }

  #add(hash: number, second: number): void {
    const first = hash || 1
    const pairs = this.#pairs
    const place = placeOf(pairs, first, second)
    if (pairs[place] !== 0) return
    pairs[place] = first
    pairs[place + 1] = second
    this.size++
    if (4 * this.size > pairs.length) this.#grow()
  }

  #grow(): void {
    const smaller = this.#pairs
    const pairs = new Int32Array(2 * smaller.length)
    for (let at = 0; at < smaller.length; at += 2) {
      const [first = 0, second = 0] = [smaller[at], smaller[at + 1]]
      if (first === 0) continue
      const place = placeOf(pairs, first, second)
      pairs[place] = first
      pairs[place + 1] = second
    }
    this.#pairs = pairs
  }
}
