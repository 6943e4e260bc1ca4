import type { SeenLine, SeenLink } from "../html/SeenHtml.ts"
import * as CodeShapes from "./CodeShapes.ts"
import * as Nearby from "./Nearby.ts"
import * as SpokenLines from "./SpokenLines.ts"
import * as WordSearch from "./WordSearch.ts"

/** A code to type, as an event names it. */
export interface Code {
  readonly value: string
  readonly shown: string
  readonly source: "subject" | "text" | "html"
  readonly confidence: "high" | "low"
}

/** The source of a line. */
export interface Source {
  readonly name: Code["source"]
  readonly spoken: SpokenLines.SpokenLines
  readonly links: ReadonlyArray<SeenLink>
}

/** Maximum number of candidates. */
const mostCandidates = 200

const high = 60
const low = 40
/** Score difference below which two codes are ambiguous. */
const equal = 5

interface Candidate {
  readonly shape: CodeShapes.Shape
  readonly source: Code["source"]
  readonly score: number
  /** It has the label of another number. */
  readonly isOther: boolean
}

/** The last line of a mail with a code bound to one site: `@example.com #482913`. */
const bound = /^@[a-z0-9.-]{3,253}(?: %[a-z0-9.-]{3,253})? #([A-Za-z0-9-]{4,12})(?: @\S{3,253})?$/

/** Finds the code of a mail. Ignores quoted lines. */
export const find = (about: SpokenLines.SpokenLines, sources: ReadonlyArray<Source>): Code | null => {
  for (const { name, spoken } of sources) {
    const last = spoken.lines.findLast(({ quoted }) => !quoted)
    const [, value] = bound.exec(last?.text ?? "") ?? []
    if (value !== undefined) return { value, shown: value, source: name, confidence: "high" }
  }
  const inSubject = candidates("subject", about, undefined)
  const subjectSays = Nearby.says(about.hits(0))
  const all = [...inSubject]
  for (const { links, name, spoken } of sources) {
    if (all.length >= mostCandidates) break
    const found = candidates(name, joined(spoken), subjectSays)
    const linked = new Set(found.length === 0 ? [] : links.map(({ text }) => text))
    for (const each of found) {
      // A number that is link text refers to an order or invoice.
      const score = each.score + again(each, inSubject) - (linked.has(each.shape.shown) ? 30 : 0)
      all.push({ ...each, score })
    }
  }
  return best(all)
}

/** A number that the subject contains too, as a code or order number. */
const again = ({ shape }: Candidate, inSubject: ReadonlyArray<Candidate>): number => {
  const same = inSubject.filter((other) => other.shape.value === shape.value)
  if (same.length === 0) return 0
  return same.some(({ isOther }) => isOther) ? -40 : 20
}

const best = (all: ReadonlyArray<Candidate>): Code | null => {
  let first: Candidate | undefined
  for (const each of all) if (first === undefined || each.score > first.score) first = each
  if (first === undefined || first.score < low) return null
  const { shape, score, source } = first
  const isAlone = all.every((other) => other.shape.value === shape.value || other.score < score - equal)
  return { value: shape.value, shown: shape.shown, source, confidence: isAlone && score >= high ? "high" : "low" }
}

/** A row of cells with one digit each is one line. */
const joined = (spoken: SpokenLines.SpokenLines): SpokenLines.SpokenLines => {
  const { lines } = spoken
  const isBox = (line: SeenLine) => line.text.length === 1 && line.cells >= 4
  if (!lines.some(isBox)) return spoken
  const all: Array<SeenLine> = []
  let boxes: Array<SeenLine> = []
  const close = () => {
    const [first] = boxes
    if (first !== undefined && boxes.length >= 4 && boxes.length <= 10) {
      all.push({ ...first, text: boxes.map(({ text }) => text).join("") })
    } else all.push(...boxes)
    boxes = []
  }
  for (const line of lines) {
    if (isBox(line) && (boxes.length === 0 || boxes[0]?.cells === line.cells)) boxes.push(line)
    else {
      close()
      all.push(line)
    }
  }
  close()
  return SpokenLines.of(all)
}

const candidates = (
  source: Code["source"],
  context: SpokenLines.SpokenLines,
  subject: Nearby.Said | undefined
): ReadonlyArray<Candidate> => {
  const found: Array<Candidate> = []
  let looked = 0
  for (const [index, line] of context.lines.entries()) {
    if (line.quoted) continue
    if (looked >= mostCandidates) break
    const shapes: Array<CodeShapes.Shape> = []
    CodeShapes.find(line.text, shapes, mostCandidates - looked)
    looked += shapes.length
    for (const shape of shapes) {
      const { isOther, score } = weigh(context, index, shape, subject)
      if (isOther || score >= low - 20) found.push({ shape, source, score, isOther })
    }
  }
  return found
}

interface Weight {
  readonly score: number
  readonly isOther: boolean
}

const wordless = /^[^\p{L}\p{N}]*$/u

/** The score of a candidate. `docs/extraction.md` has the resulting accuracy. */
const weigh = (
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
  if (!isAlone && !Nearby.mayMean(context, index)) return { score: 0, isOther: Nearby.isLabelled(context, index) }
  const near = Nearby.around(context, index, shape, isAlone)
  // Use 482913 to verify your number.
  if (near.soon <= 5 && near.auth <= 25) near.code = Math.min(near.code, near.auth)
  const isOther = near.other < near.code
  const code = Math.min(near.code, subject?.code === 0 && isAlone && !isOther ? 60 : Number.POSITIVE_INFINITY)
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
  if (near.soon < 200) score += 6
  // Excludes door codes and the like, which are not for an account.
  else if (!isAlone && near.auth >= 200 && subject !== undefined && subject.auth > 0 && subject.code > 0) score -= 10
  return { score: score + looks(line, isAlone) + form(shape), isOther }
}

const codeNames = /otp|code|token|\bpin\b|passc|verif|kod/

const looks = ({ fontSize, names, spaced, strong }: SeenLine, isAlone: boolean): number =>
  (isAlone ? 15 : 0) +
  (isAlone && fontSize >= 20 ? 8 : 0) +
  (spaced ? 10 : 0) +
  (names !== "" && codeNames.test(names) ? 12 : 0) +
  (strong ? 4 : 0)

const form = ({ grouped, kind, value }: CodeShapes.Shape): number => {
  if (kind === "digits") {
    if (value.length === 4 && !grouped) return /^(?:19|20)\d\d$/.test(value) ? -25 : 6
    if (value.length === 8 && /^(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d$/.test(value)) return -6
    return value.length === 6 ? 12 : value.length > 8 ? -5 : 6
  }
  if (kind === "letters") {
    if (WordSearch.search(value.toLowerCase()).length > 0) return -100
    // Names and words have vowels. Generated codes usually avoid them.
    const vowels = value.match(/[AEIOUY]/g)?.length ?? 0
    if (!grouped && value.length < 5) return -60
    return vowels * 3 > value.length ? -40 : grouped ? -8 : vowels > 1 ? -60 : vowels === 1 ? -25 : -10
  }
  return /[a-z]/.test(value) ? -10 : 0
}
