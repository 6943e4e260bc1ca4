import { isAtom, isDigit, isSpace } from "./CodeCharacters.ts"
import { inWord } from "./WordSearch.ts"

/** Where a candidate stands in its line. */
interface Place {
  readonly from: number
  readonly to: number
  readonly kind: "digits" | "mixed" | "letters"
}

/** Maximum length of a longer number around a code, and of an address. */
const longestNumber = 24
const longestAddress = 40
const colon = 0x3a

/** Text that must not precede a code: parts of numbers, names, money, addresses. */
const notBefore = new Set([..."#/@.,$€£¥₹₽₩₺₴₫฿+=&%_~\\№-–—−:^"].map((mark) => mark.charCodeAt(0)))
/** The same with a space between. */
const notBeforeSpace = new Set([..."#$€£¥₹₽₩₺₴₫฿№©"].map((mark) => mark.charCodeAt(0)))
/** Text that must not follow a code. */
const notBehind = new Set([..."%/@_=&€$£¥₽₩₺₴₫฿°+\\-–—−^#"].map((mark) => mark.charCodeAt(0)))

const units =
  /^\s?(?:usd|eur|gbp|chf|jpy|cny|inr|rs|kr|sek|nok|dkk|pln|zł|kč|czk|huf|ft|ron|lei|try|tl|rub|руб|uah|грн|brl|mxn|cad|aud|元|円|원|đ|vnd|rp|idr|bytes?|bits?|kb|mb|gb|kib|mib|px|kg|km|times|people|users|lines|words|characters|pages|days|hours|years|€|\$|£)(?![\p{L}\p{N}])/iu
/** A column with a version behind a number. */
const version = /^ {1,3}\d+[.:]\d/
const currencyBefore =
  /(?:^|[^\p{L}])(?:usd|eur|gbp|chf|jpy|cny|inr|rs\.?|kr\.?|sek|nok|dkk|pln|czk|huf|rp\.?|idr|r\$|us\$|no\.?|nr\.?|nº|n°|№)\s?$/iu

/** Checks that the token is not part of an amount, date, address or telephone number. */
export const stands = (line: string, { from, kind, to }: Place): boolean => {
  const before = line.charCodeAt(from - 1)
  const behind = line.charCodeAt(to)
  if (before === behind && (before === 0x22 || before === 0x27) && isLiteral(line, from, to)) return false
  if (from > 0) {
    if (inWord(before) && before >= 0x80) return false
    const isLabel = before === colon && endsLabel(line, from - 1)
    if (notBefore.has(before) && !isLabel) return false
    if (before === 0x5b && from > 1 && isAtom(line.charCodeAt(from - 2))) return false
    if (isSpace(before)) {
      const mark = line.charCodeAt(from - 2)
      // A group of digits after another one, a currency sign, or a number sign.
      if (kind === "digits" && isDigit(mark) && spacedDigits(line, from)) return false
      if (from > 1 && notBeforeSpace.has(mark)) return false
      // A product: 60 * 1000. At the start of a line the star is a bullet.
      if (from > 3 && mark === 0x2a && isSpace(line.charCodeAt(from - 3))) return false
    }
    if (kind === "digits" && currencyBefore.test(line.slice(Math.max(0, from - 6), from))) return false
    if (before === 0x28 && line.charCodeAt(to) === 0x29 && /\d$/.test(line.slice(to + 1, to + 3))) return false
  }
  if (to < line.length) {
    if (inWord(behind) && behind >= 0x80 && behind < 0x590) return false
    if (notBehind.has(behind)) return false
    const next = line.charCodeAt(to + 1)
    if ((behind === 0x2e || behind === 0x2c || behind === colon) && isAtom(next)) return false
    // An address, or what a changelog says of a commit.
    if (behind === colon && (next === colon || (kind === "mixed" && to + 1 < line.length))) return false
    if (kind === "digits" && isSpace(behind) && isDigit(line.charCodeAt(to + 1)) && digitsAt(line, to + 1) >= 3)
      return false
    if (kind === "digits" && version.test(line.slice(to, to + 8))) return false
    if (kind === "digits" && units.test(line.slice(to, to + 12))) return false
  }
  return true
}

/** Whether quotes make a string of a program: otp: "123456", code = "123456"; {"otp": "123456"}. */
const isLiteral = (line: string, from: number, to: number): boolean =>
  /["'\w)]\s*(?:[:=]|=>)\s*$|[[({=,]\s*$/.test(line.slice(Math.max(0, from - 12), from - 1)) &&
  /^["']\s*(?:[,;)\]}]|$)/.test(line.slice(to, to + 4))

const isHex = (unit: number): boolean => {
  const letter = unit | 0x20
  return (unit >= 0x30 && unit <= 0x39) || (letter >= 0x61 && letter <= 0x66)
}

/**
 * Whether a colon without a space behind ends a label (`Code:482913`), not a host or a group of an IPv6 or hardware
 * address.
 */
const endsLabel = (line: string, at: number): boolean => {
  let colons = 1
  let isHexOnly = true
  for (let place = at - 1; place >= 0 && place > at - longestAddress; place--) {
    const unit = line.charCodeAt(place)
    if (isSpace(unit)) break
    if (unit === colon) colons++
    else if (!isHex(unit)) isHexOnly = false
    // A URL, a host or a path.
    if (unit === 0x2f || unit === 0x2e || unit === 0x40 || (isHexOnly && colons > 1)) return false
  }
  return inWord(line.charCodeAt(at - 1)) || line.charCodeAt(at - 1) >= 0x80 || isLabelEnd(line.charCodeAt(at - 1))
}

/** Brackets, quotes and stars between a label and its colon: **Code**:482913. */
const isLabelEnd = (unit: number): boolean => unit === 0x29 || unit === 0x5d || unit === 0x2a

/** Number of digits at this position. */
const digitsAt = (line: string, from: number): number => {
  let to = from
  while (to < line.length && to < from + longestNumber && isDigit(line.charCodeAt(to))) to++
  return to - from
}

/** Whether the digits before the space are a group of a longer number. */
const spacedDigits = (line: string, from: number): boolean => {
  let start = from - 2
  while (start >= 0 && start > from - longestNumber && isDigit(line.charCodeAt(start))) start--
  const length = from - 2 - start
  return length >= 3 || line.charCodeAt(start) === 0x2b || line.charCodeAt(start) === 0x29
}
