import type { Shape } from "./CodeShapes.ts"
import * as SpokenLines from "./SpokenLines.ts"
import * as WordSearch from "./WordSearch.ts"

/** The distance in characters of each category's nearest word. Infinity without one. */
export interface Said {
  code: number
  other: number
  /** The label of another number that stands between. */
  beside: number
  /** The number of such words. */
  others: number
  deal: number
  auth: number
  soon: number
}

const nothing = (): Said => ({
  code: Number.POSITIVE_INFINITY,
  other: Number.POSITIVE_INFINITY,
  beside: Number.POSITIVE_INFINITY,
  others: 0,
  deal: Number.POSITIVE_INFINITY,
  auth: Number.POSITIVE_INFINITY,
  soon: Number.POSITIVE_INFINITY
})

/** The topic of a category's words. Other words are about signing in. */
const speaksOf = new Map<WordSearch.Hit["category"], ReadonlyArray<Exclude<keyof Said, "others" | "beside">>>([
  ["otp", ["auth", "code"]],
  ["code", ["code"]],
  ["other", ["other"]],
  ["deal", ["deal"]],
  ["soon", ["soon"]],
  ["foot", []],
  ["refuse", []]
])
const ofSigningIn = ["auth"] as const

const hear = (said: Said, { category }: WordSearch.Hit, distance: number): void => {
  for (const what of speaksOf.get(category) ?? ofSigningIn) said[what] = Math.min(said[what], distance)
  if (category === "other") said.others++
}

export const says = (hits: ReadonlyArray<WordSearch.Hit>): Said => {
  const said = nothing()
  for (const hit of hits) hear(said, hit, 0)
  return said
}

/** Whether a line, or the one above it, has the words that make a number in a sentence a code. */
export const mayMean = (context: SpokenLines.SpokenLines, index: number): boolean => {
  if ((context.lines[index]?.text.length ?? 0) > SpokenLines.longest) return true
  let isSoon = false
  let isAuth = false
  for (const { category } of context.hits(index)) {
    if (category === "code" || category === "otp") return true
    if (category === "soon") isSoon = true
    else if ((speaksOf.get(category) ?? ofSigningIn).includes("auth")) isAuth = true
  }
  return (isSoon && isAuth) || (index > 0 && context.hits(index - 1).some(speaks))
}

/** Whether a line has the label of another number. */
export const isLabelled = (context: SpokenLines.SpokenLines, index: number): boolean =>
  context.hits(index).some(({ category }) => category === "other")

/** Whether a line speaks of signing in, not only of a confirmation, which bookings have too. */
export const isForSignIn = (context: SpokenLines.SpokenLines, index: number): boolean =>
  context.hits(index).some(({ category }) => category === "otp" || category === "once" || category === "login")

/** The context of a candidate: its line, some lines before, and two lines after. */
export const around = (context: SpokenLines.SpokenLines, index: number, shape: Shape, isAlone: boolean): Said => {
  const near = nothing()
  if (!isAlone) hearLine(near, context, index, shape)
  hearAbove(near, context, index, shape, isAlone)
  hearBelow(near, context, index, shape, isAlone)
  return near
}

/** The distance in characters at which lines above count. Above a line of words they count only as an announcement. */
const reachAbove = (near: Said, above: string | undefined, shape: Shape, isAlone: boolean): number => {
  if (isAlone) return 300
  const isAnnounced = shape.from < 20 && (/[:：]$/.test(above ?? "") || near.soon < 40 || near.auth < 40)
  return isAnnounced ? 160 : 0
}

const ends = /[.!?。！？؟।]\s/g
/** The distance that the sentence ends of a text add: they separate words from the number. */
const sentenceEnds = (text: string, cost: number): number => (text.match(ends)?.length ?? 0) * cost

/** The distance in characters at which the lines above a labelled number belong to it: Meeting ID, then Code. */
const reachBeside = (shape: Shape, isAlone: boolean): number => (!isAlone && shape.from < 20 ? 60 : 0)

const hearAbove = (
  near: Said,
  context: SpokenLines.SpokenLines,
  index: number,
  shape: Shape,
  isAlone: boolean
): void => {
  const { lines } = context
  const reach = reachAbove(near, lines[index - 1]?.text, shape, isAlone)
  const besides = reachBeside(shape, isAlone)
  let distance = isAlone ? 0 : shape.from
  for (let above = index - 1; above >= 0 && above >= index - 5 && distance < Math.max(reach, besides); above--) {
    const line = lines[above]
    if (line === undefined || line.quoted) break
    distance += 8
    const length = Math.min(context.folded(above).length, SpokenLines.longest)
    const hits = context.hits(above)
    const spoken = hits.findLast(speaks)
    const isOfOther = distance < besides && hits.length > 0 && hits.every(({ category }) => category === "other")
    if (isOfOther) near.beside = Math.min(near.beside, distance)
    for (const hit of distance - 8 < reach ? hits : []) {
      // The line mentions a code: another word counts only as the label right before the number.
      const isLabel = spoken === undefined || (hit.from > spoken.to && length - hit.to < 4)
      const sentences = isAlone ? 0 : sentenceEnds(context.folded(above).slice(hit.to, length), 40)
      if (hit.category !== "other" || isLabel) hear(near, hit, distance + length - hit.to + sentences)
    }
    distance += length
  }
}

const hearBelow = (
  near: Said,
  context: SpokenLines.SpokenLines,
  index: number,
  shape: Shape,
  isAlone: boolean
): void => {
  const rest = isAlone ? 0 : (context.lines[index]?.text.length ?? 0) - shape.to
  const reach = isAlone ? 120 : rest < 30 ? 60 : 0
  let distance = rest + 20
  for (let below = index + 1; below <= index + 2 && distance < reach; below++) {
    const line = context.lines[below]
    if (line === undefined || line.quoted) break
    // Labels precede the number or stand alone below it. Text after an announced code is about something else.
    for (const hit of context.hits(below)) {
      if (hit.category !== "other" || near.code > 300) hear(near, hit, distance + hit.from)
    }
    distance += line.text.length + 20
  }
}

/** The label of a number must be in its sentence. Its purpose may be in another. */
const isMeasured = ({ category }: WordSearch.Hit): boolean =>
  category === "code" || category === "otp" || category === "other" || category === "deal" || category === "soon"

const speaks = ({ category }: WordSearch.Hit): boolean => category === "code" || category === "otp"

const number = /\p{Nd}{3}/u

/** The position of the bracket that the text at this position is in, or -1. */
const bracketBefore = (text: string, at: number): number => {
  const open = text.lastIndexOf("(", at)
  return open > text.lastIndexOf(")", at - 1) ? open : -1
}

/**
 * Text between a label and its number: the rest of its word and marks, and for `weak` a short word such as `is`. In
 * scripts without spaces the rest of the word may be a sentence.
 */
const strong =
  /^(?:[^\P{L}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]*|\p{L}{0,3})[^\p{L}\p{N}.!?]*$/u
const weak = /^[\p{L}\p{M}]{0,12}[^\p{L}\p{N}.!?]*(?:\p{L}{1,6}[^\p{L}\p{N}.!?]+)?$/u

/** Text between the word for code and its purpose: code de …, but not code to …, which may end before any word. */
const joins = /^\p{L}*[ -](?:(?!to )\p{L}{1,3} )?$/u

/** Text between a number that starts the line and its label: KXTPQ is your Acme code. */
const naming = /^[^\p{N}.!?,;:]{2,40}$/u

/**
 * Whether the label of a code stands directly before the candidate, or ends the line above it. `weak` is a label with a
 * word between, or behind a candidate that starts the line.
 */
export const labelOf = (
  context: SpokenLines.SpokenLines,
  index: number,
  shape: Shape,
  isAlone: boolean
): "strong" | "weak" | undefined => {
  const place = isAlone ? index - 1 : index
  const line = context.lines[place]
  const folded = context.folded(place)
  if (line === undefined || line.quoted || folded.length > SpokenLines.longest) return undefined
  const isSame = folded.length === line.text.length
  const to = isAlone ? folded.length : isSame ? shape.from : WordSearch.fold(line.text.slice(0, shape.from)).length
  const hits = context.hits(place)
  const at = hits.findLastIndex((hit) => speaks(hit) && hit.to <= to)
  const label = hits[at]
  if (label !== undefined) {
    // A code of verification: the words for its purpose are part of the label.
    let labelEnd = label.to
    for (const purpose of hits.slice(at + 1, at + 4)) {
      if (purpose.to > to || !joins.test(folded.slice(labelEnd, purpose.from))) break
      labelEnd = purpose.to
    }
    const between = folded.slice(labelEnd, to)
    if (strong.test(between)) return "strong"
    if (weak.test(between)) return "weak"
  }
  const end = to + shape.to - shape.from
  const isFirst = !isAlone && !/\p{L}/u.test(folded.slice(0, to))
  const behind = !isFirst ? undefined : hits.find((hit) => speaks(hit) && hit.from >= end)
  return behind !== undefined && naming.test(folded.slice(end, behind.from)) ? "weak" : undefined
}

const hearLine = (near: Said, context: SpokenLines.SpokenLines, index: number, shape: Shape): void => {
  const line = context.lines[index]?.text ?? ""
  const folded = context.folded(index)
  const isSame = folded.length === line.length
  const isLong = folded.length > SpokenLines.longest
  const left = isLong ? WordSearch.fold(line.slice(Math.max(0, shape.from - 200), shape.from)) : ""
  const from = isLong ? left.length : isSame ? shape.from : WordSearch.fold(line.slice(0, shape.from)).length
  const text = isLong ? left + WordSearch.fold(line.slice(shape.from, shape.to + 120)) : folded
  const to = from + (shape.to - shape.from)
  const bracket = bracketBefore(text, from)
  for (const hit of isLong ? WordSearch.phrases(text) : context.hits(index)) {
    if (hit.to <= from) {
      const between = text.slice(hit.to, from)
      // A label with its own number: order 55123, your code is 482913.
      const isTaken = number.test(between)
      if (isTaken && hit.category === "other") {
        near.beside = Math.min(near.beside, from - hit.to)
        continue
      }
      const isApart = hit.to <= bracket && !/^[^\p{L}]*$/u.test(text.slice(bracket, from))
      const distance = from - hit.to + (isMeasured(hit) ? sentenceEnds(between, 40) + (isApart ? 80 : 0) : 0)
      hear(near, hit, isTaken && !/[:：]\s*$/.test(between) ? distance + 40 : distance)
    } else if (hit.from >= to) {
      // A label after the number belongs to the following text: 482913 (ref: KXTP).
      const isLabel = hit.category === "other" && /[:：#]/.test(text.slice(hit.to - 1, hit.to + 2))
      if (!isLabel)
        hear(near, hit, hit.from - to + 1 + (isMeasured(hit) ? sentenceEnds(text.slice(to, hit.from), 60) : 0))
    }
  }
}
