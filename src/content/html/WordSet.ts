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

/** A number of different words in a table of pairs of 32-bit hashes. Words of a text are too many for strings. */
export class WordSet {
  readonly #pairs: Int32Array
  readonly #mask: number
  size = 0

  /** The words of a text in lower case. */
  constructor(text: string) {
    let slots = 16
    // Some slots stay free, even if each unit is a word.
    while (slots < 1.25 * text.length) slots *= 2
    this.#pairs = new Int32Array(2 * slots)
    this.#mask = slots - 1
    this.#read(text)
  }

  /** The number of words that the other set lacks. */
  missingIn(other: WordSet): number {
    let missing = 0
    for (let at = 0; at < this.#pairs.length; at += 2) {
      const first = this.#pairs[at] ?? 0
      if (first !== 0 && !other.#has(first, this.#pairs[at + 1] ?? 0)) missing++
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

  #slotOf(first: number, second: number): number {
    let slot = (first ^ second) & this.#mask
    while (this.#pairs[2 * slot] !== 0 && (this.#pairs[2 * slot] !== first || this.#pairs[2 * slot + 1] !== second)) {
      slot = (slot + 1) & this.#mask
    }
    return slot
  }

  #has(first: number, second: number): boolean {
    return this.#pairs[2 * this.#slotOf(first, second)] !== 0
  }

  #add(first: number, second: number): void {
    const slot = this.#slotOf(first, second)
    if (this.#pairs[2 * slot] !== 0) return
    this.#pairs[2 * slot] = first
    this.#pairs[2 * slot + 1] = second
    this.size++
  }
}
