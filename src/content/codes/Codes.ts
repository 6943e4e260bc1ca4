import type { SeenLine } from "../html/SeenHtml.ts"
import * as CodeShapes from "./CodeShapes.ts"
import * as CodeWeight from "./CodeWeight.ts"
import * as Nearby from "./Nearby.ts"
import * as SpokenLines from "./SpokenLines.ts"

/** A code to type, as an event names it. */
export interface Code {
  readonly value: string
  readonly shown: string
  readonly source: SpokenLines.Source["name"]
  readonly confidence: "high" | "low"
}

/** Maximum number of candidates. */
const mostCandidates = 200

const high = 60
const low = 40
/** Score difference below which two codes are ambiguous. */
const equal = 5

interface Candidate extends CodeWeight.Weight {
  readonly shape: CodeShapes.Shape
  readonly source: Code["source"]
  /** The index of its line. */
  readonly line: number
  /** A person may not see it. */
  readonly isUncertain: boolean
  /** It stands in the plain text alone, and mail programs show the HTML. */
  readonly isUnseen: boolean
}

/** The last line of a mail with a code bound to one site: `@example.com #482913`. */
const bound = /^@[a-z0-9.-]{3,253}(?: %[a-z0-9.-]{3,253})? #([A-Za-z0-9-]{4,12})(?: @\S{3,253})?$/

/** Spaces and dashes within a code do not count in a comparison. */
const joinedText = (text: string) => text.replace(/[\s\p{Pd}]/gu, "")
/** The same in the searched text: one character between two others. */
const spacedText = (text: string) => text.replace(/[\s\p{Pd}]{2,}/gu, (run) => (/\p{Pd}/u.test(run) ? "-" : "\n"))

/**
 * Whether a text has the code as a number of its own, not within a longer number or word: 482913 is not in
 * 99482913001, nor in 1-555-482-9130.
 */
const isIn = (visible: string, code: string): boolean => {
  const [first = "", ...rest] = code
  const spaced = rest.map((each) => `[\\s\\p{Pd}]?${each}`).join("")
  // A number after a space continues a code in groups alone: 482913 10 minutes.
  const forms = `${rest.join("")}|(?<!\\p{N}\\p{Zs}${first})${spaced}(?!\\p{Zs}\\p{N})`
  // Each look behind follows the first character, which is searched natively.
  return new RegExp(
    `${first}(?<!(?:[\\p{N}A-Za-z]|\\p{N}\\p{Pd})${first})(?:${forms})(?!\\p{Pd}?\\p{N}|[A-Za-z])`,
    "u"
  ).test(visible)
}

/** Maximum number of codes of the plain text to search in the HTML. */
const mostCompared = 20

/** What decides whether a code is certain. */
interface Context {
  /** In a list post or a reply a number is only somebody's words. */
  readonly isTalk: boolean
  /** If plain text stands in for HTML, what the HTML surely shows. A code in the plain text alone is uncertain. */
  readonly shown: string | null
}

/** Finds the code of a mail. Ignores quoted lines. */
export const find = (
  about: SpokenLines.SpokenLines,
  sources: ReadonlyArray<SpokenLines.Source>,
  { isTalk, shown }: Context
): Code | null => {
  const code = bestOf(about, sources, shown)
  return isTalk && code !== null ? { ...code, confidence: "low" } : code
}

const bestOf = (
  about: SpokenLines.SpokenLines,
  sources: ReadonlyArray<SpokenLines.Source>,
  shown: string | null
): Code | null => {
  // Made for the first candidate, which most mails have not.
  let visible: string | undefined
  let compared = 0
  const isPlainOnly = (name: Code["source"], value: string) => {
    if (name !== "text" || shown === null) return false
    // A code that the HTML shows is found there, too.
    if (++compared > mostCompared) return true
    visible ??= spacedText(`${about.lines[0]?.text}\n${shown}`)
    return !isIn(visible, joinedText(value))
  }
  for (const { name, spoken } of sources) {
    const last = spoken.lines.findLast(({ quoted }) => !quoted)
    const [, value] = bound.exec(last?.text ?? "") ?? []
    if (value === undefined) continue
    const confidence = last?.uncertain !== undefined || isPlainOnly(name, value) ? "low" : "high"
    return { value, shown: value, source: name, confidence }
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
      const isUnseen = isPlainOnly(name, each.shape.shown)
      all.push({ ...each, score, isUnseen, isUncertain: each.isUncertain || isUnseen })
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

const highest = (all: ReadonlyArray<Candidate>): Candidate | undefined => {
  let first: Candidate | undefined
  for (const each of all) if (first === undefined || each.score > first.score) first = each
  return first === undefined || first.score < low ? undefined : first
}

/** Characters between two codes of one sentence. */
const longestBetween = 40

/** Another value of the same form in the same sentence: `Use code 482913 or 771204`. */
const isRival = (one: Candidate, other: Candidate): boolean =>
  one.source === other.source &&
  one.line === other.line &&
  !other.isOther &&
  one.shape.kind === other.shape.kind &&
  one.shape.value.length === other.shape.value.length &&
  Math.max(one.shape.from - other.shape.to, other.shape.from - one.shape.to) <= longestBetween

const best = (all: ReadonlyArray<Candidate>): Code | null => {
  // What the HTML shows is what a person types.
  const first = highest(all.filter(({ isUnseen }) => !isUnseen)) ?? highest(all)
  if (first === undefined) return null
  const { shape, score, source } = first
  const isAlone = all.every(
    (other) => other.shape.value === shape.value || (other.score < score - equal && !isRival(first, other))
  )
  // The same code may stand in a visible place too.
  const isSure = (one: Candidate) => one.score >= high && !one.isDoubtful && !one.isUncertain
  const isHigh =
    isAlone && (first.isUncertain ? all.some((one) => one.shape.value === shape.value && isSure(one)) : isSure(first))
  return { value: shape.value, shown: shape.shown, source, confidence: isHigh ? "high" : "low" }
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
      const text = boxes.map((box) => box.text).join("")
      const uncertain = boxes.some((box) => box.uncertain !== undefined) ? [[0, text.length] as const] : undefined
      all.push({ ...first, text, uncertain })
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
      const weight = CodeWeight.weigh(context, index, shape, subject)
      const isUncertain = line.uncertain?.some(([from, to]) => from < shape.to && to > shape.from) === true
      if (weight.isOther || weight.score >= low - 20)
        found.push({ shape, source, line: index, isUncertain, isUnseen: false, ...weight })
    }
  }
  return found
}
