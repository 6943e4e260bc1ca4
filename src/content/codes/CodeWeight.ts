import type { SeenLine } from "../html/SeenHtml.ts"
import type * as CodeShapes from "./CodeShapes.ts"
import * as Nearby from "./Nearby.ts"
import * as SpokenLines from "./SpokenLines.ts"
import * as WordSearch from "./WordSearch.ts"

/** How likely a candidate is a code. */
export interface Weight {
  readonly score: number
  /** It has the label of another number. */
  readonly isOther: boolean
  /** A date within a text, or a code beside the number of a booking. */
  readonly isDoubtful: boolean
}

const wordless = /^[^\p{L}\p{N}]*$/u

/** The score of a candidate. `docs/extraction.md` has the resulting accuracy. */
export const weigh = (
  context: SpokenLines.SpokenLines,
  index: number,
  shape: CodeShapes.Shape,
  subject: Nearby.Said | undefined
): Weight => {
  const line = context.lines[index] ?? SpokenLines.empty
  const { text } = line
  const rest = text.length - (shape.to - shape.from)
  const isAlone =
    rest === 0 || (rest <= 16 && wordless.test(text.slice(0, shape.from)) && wordless.test(text.slice(shape.to)))
  if (!isAlone && !Nearby.mayMean(context, index)) {
    return { score: 0, isOther: Nearby.isLabelled(context, index), isDoubtful: true }
  }
  const near = Nearby.around(context, index, shape, isAlone)
  // Use 482913 to verify your number.
  if (near.soon <= 5 && near.auth <= 25) near.code = Math.min(near.code, near.auth)
  const isOther = near.other < near.code
  const code = Math.min(near.code, subject?.code === 0 && isAlone && !isOther ? 60 : Number.POSITIVE_INFINITY)
  const isShort = lengthOf(context) <= longestWhole
  const label = isShort || shape.kind !== "digits" ? Nearby.labelOf(context, index, shape, isAlone) : undefined
  const isWhole = isShort && label !== undefined && saysNothingElse(context, shape)
  // The subject names another purpose: your boarding pass.
  const isElse = subject !== undefined && subject.others > 0 && subject.code > 0
  let score = 0
  if (code <= 40) score += 50
  else if (code <= 80) score += isAlone ? 48 : 38
  else if (code <= 160) score += isAlone ? 44 : 18
  else if (isAlone && code <= 300) score += 36
  if (isOther) score -= 60
  // Bookings and licenses have codes of letters among many numbers.
  if (shape.kind !== "digits") score -= Math.min(30, 10 * near.others) + (isElse ? 12 : 0)
  if (near.deal < 200) score -= shape.kind === "digits" && near.auth < 100 ? 20 : 50
  if (near.auth < 200) score += 20
  else if (subject?.auth === 0) score += 15
  if (isWhole) score += 10
  if (near.soon < 200) score += 6
  // Excludes door codes and the like, which are not for an account.
  else if (!isAlone && !isWhole && near.auth >= 200 && subject !== undefined && subject.auth > 0 && subject.code > 0)
    score -= 10
  score += looks(line, isAlone) + form(shape, isAlone, label)
  // The code of a booking or meeting, beside its number or under its subject, is not for an account.
  const isBeside =
    Math.min(near.other, near.beside) < 60 ||
    (isElse && subject.auth > 0 && !Nearby.isForSignIn(context, isAlone ? index - 1 : index))
  return { score, isOther, isDoubtful: (isBeside && near.soon >= 200) || (!isAlone && looksDated(shape)) }
}

const codeNames = /otp|code|token|\bpin\b|passc|verif|kod/

const looks = ({ fontSize, names, spaced, strong }: SeenLine, isAlone: boolean): number =>
  (isAlone ? 15 : 0) +
  (isAlone && fontSize >= 20 ? 8 : 0) +
  (spaced ? 10 : 0) +
  (names !== "" && codeNames.test(names) ? 12 : 0) +
  (strong ? 4 : 0)

/** A year, or a date in eight digits. */
const looksDated = ({ grouped, kind, value }: CodeShapes.Shape): boolean =>
  kind === "digits" && !grouped && /^(?:19|20)\d\d(?:(?:0\d|1[0-2])[0-3]\d)?$/.test(value)

/** Letters of a mail beside the code and its label, at most: `Your Acme … is …`. */
const mostElse = 12
const longestWhole = 80

/** Characters of the mail, counted up to the limit for a whole mail. */
const lengthOf = ({ lines }: SpokenLines.SpokenLines): number => {
  let length = 0
  for (const { text } of lines) {
    length += text.length
    if (length > longestWhole) break
  }
  return length
}

/** Whether the whole mail says only the code: `Your code is 482913.` */
const saysNothingElse = (context: SpokenLines.SpokenLines, { shown }: CodeShapes.Shape): boolean => {
  let letters = 0
  for (const [index] of context.lines.entries()) {
    const folded = context.folded(index)
    for (const { category, from, to } of context.hits(index)) {
      if (category === "other" || category === "deal") return false
      letters -= to - from
    }
    const rest = folded.replaceAll(shown.toLowerCase(), "")
    if (/\p{Nd}/u.test(rest)) return false
    letters += rest.match(/\p{L}/gu)?.length ?? 0
  }
  return letters <= mostElse
}

/** Names with a number and sizes: Argon2, FIDO2, 4Eyes, 50dvh. */
const named = /^(?:[A-Za-z]{2,}\d{1,2}|\d{1,3}[A-Z]?[a-z]+)$/

const form = (
  { grouped, kind, value }: CodeShapes.Shape,
  isAlone: boolean,
  label: "strong" | "weak" | undefined
): number => {
  if (kind === "digits") {
    if (value.length === 4 && !grouped) return /^(?:19|20)\d\d$/.test(value) ? -25 : 6
    if (value.length === 8 && /^(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d$/.test(value)) return -6
    return value.length === 6 ? 12 : value.length > 8 ? -5 : 6
  }
  if (kind === "letters") return !isAlone && !grouped && label === undefined ? -100 : ofLetters(value, grouped, label)
  if (label === undefined && named.test(value) && (!isAlone || /[a-z]/.test(value))) return -60
  return /[a-z]/.test(value) ? -10 : 0
}

/** Names and words have vowels. Generated codes usually avoid them. Directly behind its label any word is a code. */
const ofLetters = (value: string, grouped: boolean, label: "strong" | "weak" | undefined): number => {
  const [word] = WordSearch.search(value.toLowerCase())
  if (word !== undefined && (label === undefined || word.to - word.from === value.length)) return -100
  if (label === "strong") return 0
  const vowels = value.match(/[AEIOUY]/g)?.length ?? 0
  if (!grouped && value.length < 5) return -60
  if (vowels * 3 > value.length) return label === "weak" ? -30 : -40
  if (label === "weak" || grouped) return -8
  return vowels > 1 ? -60 : vowels === 1 ? -25 : -10
}
