import { randomInt } from "node:crypto"

/** Letters, digits and marks are parts of words. Scripts without spaces have words of one character. */
const inWord = /^[\p{L}\p{N}\p{M}]/u
const alone =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const isInWord = 1
const isAlone = 2

const kindOf = (text: string) => (inWord.test(text) ? isInWord : 0) | (alone.test(text) ? isAlone : 0)

let kinds: Uint8Array | undefined

/** The kind of each UTF-16 unit. Made at the first use, in some milliseconds. */
const kindsOfUnits = (): Uint8Array => {
  kinds ??= Uint8Array.from({ length: 0x10000 }, (_, unit) => kindOf(String.fromCharCode(unit)))
  return kinds
}

// Odd and secret, so that nobody can write two words with the same hash.
const secret = () => randomInt(2 ** 31) * 2 + 1
const [firstFactor, secondFactor] = [secret(), secret()]

const leastPlaces = 64

/** A number of different words in a table of pairs of 32-bit hashes. Words of a text are too many for strings. */
export class WordSet {
  /** Both hashes of each word, or zeros. At least half of the places are free. */
  #pairs = new Int32Array(2 * leastPlaces)
  /** The places that are taken. */
  readonly #taken: Array<number> = []

  /** The words of a text in lower case. */
  constructor(text: string) {
    this.#read(text)
  }

  get size(): number {
    return this.#taken.length
  }

  /** The number of words that the other set lacks. */
  missingIn(other: WordSet): number {
    let missing = 0
    for (const place of this.#taken) {
      const found = other.#placeOf(this.#pairs[place] ?? 0, this.#pairs[place + 1] ?? 0)
      if (other.#pairs[found] === 0) missing++
    }
    return missing
  }

  #read(text: string): void {
    const kinds = kindsOfUnits()
    let [first, second, units] = [0, 0, 0]
    const end = () => {
      if (units > 0) this.#add(first || 1, second)
      first = 0
      second = 0
      units = 0
    }
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      const isPair = unit >= 0xd800 && unit <= 0xdbff && at + 1 < text.length
      const kind = isPair ? kindOf(text.slice(at, at + 2)) : (kinds[unit] ?? 0)
      if ((kind & isInWord) === 0) end()
      if (kind === 0) continue
      const isOwn = units === 0 && (kind & isAlone) !== 0
      for (let last = isPair ? at + 1 : at; at <= last; at++) {
        const next = text.charCodeAt(at)
        first = Math.imul(first ^ next, firstFactor)
        first ^= first >>> 15
        second = Math.imul(second + next, secondFactor)
        second ^= second >>> 13
        units++
      }
      at--
      if (isOwn) end()
    }
    end()
  }

  /** The place of a word, or the free one for it. */
  #placeOf(first: number, second: number): number {
    const pairs = this.#pairs
    let place = ((first ^ second) << 1) & (pairs.length - 1)
    while (pairs[place] !== 0 && (pairs[place] !== first || pairs[place + 1] !== second)) {
      place = (place + 2) & (pairs.length - 1)
    }
    return place
  }

  #add(first: number, second: number): void {
    const place = this.#placeOf(first, second)
    if (this.#pairs[place] !== 0) return
    this.#pairs[place] = first
    this.#pairs[place + 1] = second
    this.#taken.push(place)
    if (4 * this.#taken.length > this.#pairs.length) this.#grow()
  }

  #grow(): void {
    const smaller = this.#pairs
    this.#pairs = new Int32Array(2 * smaller.length)
    const taken = this.#taken.splice(0)
    for (const place of taken) this.#add(smaller[place] ?? 0, smaller[place + 1] ?? 0)
  }
}
