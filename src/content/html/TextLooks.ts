import * as Units from "./Units.ts"

/** Units of UTF-16 that `Invisible` may leave out. */
const suspect =
  /[\0-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u115f\u1160\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud82f\ud834\udb40-\udb43]|\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]/

const blank = 1
/** Twice `blank`. */
const ragged = 2
const unseen = 4
/** Control characters except TAB and line ends, and surrogates. */
const unclean = 8
const isUnclean = /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\ud800-\udfff]/

/**
 * The class of each UTF-16 unit, 0 for most. A pattern with so many ranges would search for every character, ten
 * times the cost of a table look-up.
 */
let units: Uint8Array | undefined

const unitOf = (unit: number): number => {
  if (unit === 0x20) return blank
  if (unit === 0x09 || unit === 0x0a || unit === 0x0d || unit === 0xa0) return ragged
  if (unit === 0x0c) return ragged | unclean
  const text = String.fromCharCode(unit)
  return (suspect.test(text) ? unseen : 0) | (isUnclean.test(text) ? unclean : 0)
}

/** The properties of a text, found in one pass: flags. */
export type TextLooks = number

/** Contains invisible code points. */
export const isSuspect = (looks: TextLooks): boolean => (looks & unseen) !== 0

/** It contains runs of whitespace, or whitespace other than ASCII. */
export const isRagged = (looks: TextLooks): boolean => (looks & ragged) !== 0

const kindsOfUnits = (): Uint8Array => {
  units ??= Uint8Array.from({ length: 0x10000 }, (_, unit) => unitOf(unit))
  return units
}

/** For a part of a text, by its units. */
export const ofUnits = (text: Uint16Array, from: number, to: number): TextLooks => {
  const kinds = kindsOfUnits()
  let found = 0
  let before = 0
  for (let at = from; at < to; at++) {
    const unit = kinds[text[at] ?? 0] ?? 0
    // A space after a space. A branch here would double the cost.
    found |= unit | ((unit & before & blank) << 1)
    before = unit
  }
  return found
}

export const of = (text: string): TextLooks => ofUnits(Units.copy(text), 0, text.length)

/** Whether a text has invisible code points. */
export const hasUnseen = (text: string): boolean => has(text, unseen)

/** Whether a text has characters that JSON or PostgreSQL may not take. Surrogates in pairs are fine. */
export const mayBeUnclean = (text: string): boolean => has(text, unclean)

const has = (text: string, flag: number): boolean => {
  for (let from = 0; from < text.length; from += Units.most) {
    const piece = text.slice(from, from + Units.most)
    if ((ofUnits(Units.of(piece), 0, piece.length) & flag) !== 0) return true
  }
  return false
}
