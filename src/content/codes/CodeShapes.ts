import { digitOf, isAtom, isDash, isDigit, isLower, isSpace, isUpper } from "./CodeCharacters.ts"
import { stands } from "./CodeSurroundings.ts"

/** A token in a line with the form of a code. */
export interface Shape {
  /** As shown in the mail. */
  readonly shown: string
  /** As a person types it: ASCII digits, groups joined. */
  readonly value: string
  readonly from: number
  readonly to: number
  readonly kind: "digits" | "mixed" | "letters"
  /** Written in groups: 123 456. */
  readonly grouped: boolean
}

const leastLength = 4
const mostLength = 10
/** Maximum length of a token with its groups. */
const mostShown = 24

/**
 * The possible starts of a code: a digit, a capital before a character that may continue it, and a possible digit of
 * another script. Excludes the most frequent numbers and capitals of ordinary text: one to three digits before a
 * word, a mark or the end, and text after a word without a mark between (`isTooShort`, `isNamed`). A word of five
 * capitals after small letters is one, and a group of three before a mixed one: your code is KXTPQ, or ABC-D12.
 */
const begins =
  /[0-9](?:(?<=[A-Za-z].)|(?![0-9]{0,2}(?: [A-Za-z]{2}|[.,:;!?)"”]|$)))|[A-Z](?<![A-Za-z0-9] ?.)(?=[A-Z0-9\-\u0660-\u1819\u2010-\u2014\u2212\uff10-\uff19])|[A-Z](?<=[a-z] .)(?=[A-Z]{4}|[A-Z]{2}-(?:[A-Z]{1,4}[0-9]|[0-9]{1,4}[A-Z]))|[\u0660-\u1819\uff10-\uff19]/g

/** A line of letters whose case changes as in no name: hKxPqRzW. */
const scrambled = /^(?=.{6})[A-Za-z]*[a-z][A-Z][A-Za-z]*[a-z][A-Z][A-Za-z]*$/

/** Adds the candidates of a line to `found`, up to `most` in total. */
export const find = (line: string, found: Array<Shape>, most: number): void => {
  let place = 0
  begins.lastIndex = 0
  if (line.length <= mostLength && scrambled.test(line)) {
    found.push({ shown: line, value: line, from: 0, to: line.length, kind: "mixed", grouped: false })
  }
  // The pattern skips words in small letters natively. This is the only step for each character of a mail.
  while (begins.test(line)) {
    const at = begins.lastIndex - 1
    const unit = line.charCodeAt(at)
    if (isUpper(unit) ? !isToken(line.charCodeAt(at + 1)) : !isDigit(unit)) continue
    // A token that starts with small letters may contain a digit: x7k2p9.
    let from = at
    while (from > place && isAtom(line.charCodeAt(from - 1))) from--
    const end = atomEnd(line, at + 1)
    place = isTooShort(line, from, end) ? end : take(line, from, end, found)
    if (found.length >= most) return
    begins.lastIndex = Math.max(place, at + 1)
  }
}

/** Characters that may follow a capital in a code. */
const isToken = (unit: number): boolean => isUpper(unit) || isDigit(unit) || isDash(unit)

const atomEnd = (line: string, from: number): number => {
  let to = from
  while (to < line.length && isAtom(line.charCodeAt(to))) to++
  return to
}

/** A short token that no other can follow as a group: most numbers of a mail. */
const isTooShort = (line: string, from: number, end: number): boolean => {
  if (end - from >= leastLength) return false
  const behind = line.charCodeAt(end)
  if (isDash(behind)) return false
  const next = line.charCodeAt(end + 1)
  // All groups have the same length, and only single characters may be letters: 1 2 3 4.
  return !isSpace(behind) || !(end - from === 1 ? isAtom(next) && !isAtom(line.charCodeAt(end + 2)) : isDigit(next))
}

type Kind = Shape["kind"] | "small" | undefined

/** `small` means letters of both cases or only small ones. */
const kindOf = (line: string, from: number, to: number): Kind => {
  let digits = 0
  let upper = 0
  for (let at = from; at < to; at++) {
    const unit = line.charCodeAt(at)
    if (isDigit(unit)) digits++
    else if (isUpper(unit)) upper++
  }
  const all = to - from
  if (digits === all) return "digits"
  if (upper === all) return "letters"
  if (digits + upper === all) return "mixed"
  return digits > 0 ? "small" : undefined
}

/** Examines the token at this position, and returns the position after it. */
const take = (line: string, from: number, firstEnd: number, found: Array<Shape>): number => {
  const kind = firstEnd - from > mostShown ? undefined : kindOf(line, from, firstEnd)
  if (kind === undefined || (kind === "letters" && !isNamed(line, from) && !isInSentence(line, from))) return firstEnd
  const groups: Array<readonly [number, number]> = [[from, firstEnd]]
  let to = firstEnd
  let separator = 0
  // Groups of the same kind with the same separator: 123 456, ABC-DEF, 1 2 3 4.
  while (to - from <= mostShown) {
    const unit = line.charCodeAt(to)
    const dash = isDash(unit)
    if (!dash && !(isSpace(unit) && kind !== "small")) break
    if (separator !== 0 && dash !== isDash(separator)) break
    if (!isAtom(line.charCodeAt(to + 1))) break
    const end = atomEnd(line, to + 1)
    if (end - to > mostShown) return end
    const next = kindOf(line, to + 1, end)
    if (!dash) {
      const same = end - to - 1 === firstEnd - from
      const single = same && firstEnd - from === 1
      if (!(same && next === "digits" && kind === "digits" && firstEnd - from <= 4) && !(single && next !== "small"))
        break
    }
    separator = unit
    groups.push([to + 1, end])
    to = end
  }
  const shape = shapeOf(line, groups, separator)
  if (shape !== undefined && stands(line, shape)) found.push(shape)
  return to
}

/** A word in capitals is a plain word unless it starts a line or follows a colon or quotation mark. */
const isNamed = (line: string, from: number): boolean => {
  let before = from - 1
  while (before >= 0 && before > from - 4 && !isAtom(line.charCodeAt(before))) {
    if (namesNext.has(line.charCodeAt(before))) return true
    before--
  }
  return before < 0
}

/** A word in capitals after a word in small letters, or of another script. */
const isInSentence = (line: string, from: number): boolean => {
  const unit = line.charCodeAt(isSpace(line.charCodeAt(from - 1)) ? from - 2 : from - 1)
  return isLower(unit) || unit >= 0x370
}

const namesNext = new Set([..."[(*:：\"'“‘«「『【"].map((mark) => mark.charCodeAt(0)))

const shapeOf = (
  line: string,
  groups: ReadonlyArray<readonly [number, number]>,
  separator: number
): Shape | undefined => {
  const [first] = groups
  const last = groups[groups.length - 1]
  if (first === undefined || last === undefined) return undefined
  const [from, firstEnd] = first
  const to = last[1]
  const dashed = isDash(separator)
  // In G-482913 the letter names the sender and is not typed.
  const isPrefixed =
    dashed &&
    groups.length === 2 &&
    firstEnd - from <= 2 &&
    kindOf(line, from, firstEnd) === "letters" &&
    kindOf(line, last[0], to) === "digits"
  const parts = isPrefixed ? [last] : groups
  if (!isPrefixed && groups.length > 1) {
    const lengths = groups.map(([start, end]) => end - start)
    const [length = 0] = lengths
    const least = kindOf(line, from, firstEnd) === "letters" ? 3 : 2
    if (lengths.some((each) => each !== length) || (dashed && length < least)) return undefined
  }
  let value = ""
  for (const [start, end] of parts)
    for (let at = start; at < end; at++) {
      const digit = digitOf(line.charCodeAt(at))
      value += digit >= 0 ? `${digit}` : line[at]
    }
  if (value.length < leastLength || value.length > mostLength) return undefined
  const kind = /^\d+$/.test(value) ? "digits" : /^[A-Z]+$/.test(value) ? "letters" : "mixed"
  const shown = line.slice(from, to)
  return {
    shown,
    // Dashes between letters are typed, those between digits are not.
    value: kind !== "digits" && dashed ? shown : value,
    from,
    to,
    kind,
    grouped: parts.length > 1
  }
}
