import { type Category, categories, words } from "./Words.ts"

/** A found word with its position in the searched text. */
export interface Hit {
  readonly category: Category
  readonly from: number
  readonly to: number
}

interface Entry {
  readonly word: string
  readonly category: Category
  /** It matches only at the start of a word. */
  readonly begins: boolean
  /** It matches only at the end of a word. */
  readonly ends: boolean
}

const ascii = /^[\0-\x7f]*$/
const accents = /[\u0300-\u036f\u200b-\u200f]+/g

/** Folds case, accents and letter variants, for the text and the lists. The length may change. */
export const fold = (text: string): string =>
  ascii.test(text)
    ? text.toLowerCase()
    : text.toLowerCase().normalize("NFKD").replace(accents, "").replaceAll("\u2019", "'")

/**
 * Letters of scripts that separate words by spaces. Excludes Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese.
 */
export const inWord = (unit: number): boolean =>
  unit < 0x80
    ? (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a)
    : (unit >= 0xc0 && unit < 0xd7) ||
      (unit > 0xd7 && unit < 0x2b0) ||
      (unit >= 0x370 && unit < 0xe00) ||
      (unit >= 0x10a0 && unit < 0x1100) ||
      (unit >= 0x1200 && unit < 0x1780) ||
      (unit >= 0x1e00 && unit < 0x2000)

/** Hebrew and Arabic join articles and prepositions to a word. */
const takesPrefixes = (unit: number): boolean => unit >= 0x590 && unit < 0x780

const mix = (hash: number, unit: number): number => ((hash * 33) ^ unit) & 0xffff

/** The hash of `length` units from this position. */
const hashAt = (text: string, at: number, length: number): number => {
  let hash = 0
  for (let place = at; place < at + length; place++) hash = mix(hash, text.charCodeAt(place))
  return hash
}

/** Words by the hash of their first units: four, or fewer for short words. */
interface Table {
  readonly entries: ReadonlyMap<number, ReadonlyArray<Entry>>
  /** By hash: 0 if no word starts so, 1 if one does at the start of a word, 3 if one may match inside a word. */
  readonly glance: Uint8Array
}

const all: ReadonlyArray<Entry> = (() => {
  const byWord = new Map<string, ReadonlyArray<Entry>>()
  for (const language of words) {
    for (const category of categories) {
      for (const text of (language[category] ?? "").split(/, |(?<=\.),? /)) {
        const word = fold(text.replace(/^-/, "").replace(/\.$/, ""))
        if (word.length < 2) continue
        const unit = word.charCodeAt(0)
        const entry: Entry = {
          word,
          category,
          begins: !text.startsWith("-") && inWord(unit) && !(takesPrefixes(unit) && word.length > 2),
          ends: text.endsWith(".") && inWord(word.charCodeAt(word.length - 1))
        }
        // If languages disagree about a word, the earlier category counts.
        const others = byWord.get(word) ?? []
        const [other] = others
        const rank = other === undefined ? 0 : categories.indexOf(category) - categories.indexOf(other.category)
        if (other === undefined || rank < 0) byWord.set(word, [entry])
        else if (rank === 0 && !others.some(({ begins, ends }) => begins <= entry.begins && ends <= entry.ends)) {
          byWord.set(word, [...others, entry])
        }
      }
    }
  }
  return [...byWord.values()].flat().sort((one, another) => another.word.length - one.word.length)
})()

/** The `glance` of a table of these words. */
const glanceOf = (entries: ReadonlyArray<Entry>, length: number): Uint8Array => {
  const glance = new Uint8Array(0x1_0000)
  for (const { begins, word } of entries) {
    const hash = hashAt(word, 0, length)
    glance[hash] = (glance[hash] ?? 0) | (begins ? 1 : 3)
  }
  return glance
}

const tableOf = (length: number): Table => {
  const own = all.filter(({ word }) => Math.min(word.length, 4) === length)
  return { entries: Map.groupBy(own, ({ word }) => hashAt(word, 0, length)), glance: glanceOf(own, length) }
}

const fours = tableOf(4)
const threes = tableOf(3)
const twos = tableOf(2)

/** The longest word of the table at this position. */
const longest = ({ entries }: Table, hash: number, folded: string, place: number, isInside: boolean) => {
  for (const entry of entries.get(hash) ?? []) {
    if (isInside && entry.begins) continue
    if (!folded.startsWith(entry.word, place)) continue
    if (entry.ends && inWord(folded.charCodeAt(place + entry.word.length))) continue
    return entry
  }
  return undefined
}

/**
 * By the hash of two units: whether a word starts so, and whether one matches inside a word. Most positions match
 * none.
 */
const pairs = glanceOf(all, 2)

const wordAt = (folded: string, place: number, pair: number, isInside: boolean): Entry | undefined => {
  const bit = isInside ? 2 : 1
  const three = mix(pair, folded.charCodeAt(place + 2))
  const four = mix(three, folded.charCodeAt(place + 3))
  return (
    (((fours.glance[four] ?? 0) & bit) === 0 ? undefined : longest(fours, four, folded, place, isInside)) ??
    (((threes.glance[three] ?? 0) & bit) === 0 ? undefined : longest(threes, three, folded, place, isInside)) ??
    (((twos.glance[pair] ?? 0) & bit) === 0 ? undefined : longest(twos, pair, folded, place, isInside))
  )
}

/** The listed words in a folded text, in order. The longest match counts, without overlaps. */
export const search = (folded: string): ReadonlyArray<Hit> => {
  const hits: Array<Hit> = []
  let isInside = false
  let unit = folded.charCodeAt(0)
  let place = 0
  while (place < folded.length - 1) {
    const next = folded.charCodeAt(place + 1)
    const pair = mix(unit, next)
    if (((pairs[pair] ?? 0) & (isInside ? 2 : 1)) !== 0) {
      const entry = wordAt(folded, place, pair, isInside)
      if (entry !== undefined) {
        const to = place + entry.word.length
        hits.push({ category: entry.category, from: place, to })
        isInside = inWord(folded.charCodeAt(to - 1))
        unit = folded.charCodeAt(to)
        place = to
        continue
      }
    }
    isInside = inWord(unit)
    unit = next
    place++
  }
  return hits
}

const joint = /^[^.,;:!?\n]{0,4}$/

/** The same, but a neighboring word of another label takes over a word for code: zip code, code promo. */
export const phrases = (folded: string): ReadonlyArray<Hit> => {
  const hits = search(folded)
  if (!hits.some(({ category }) => category === "code" || category === "otp")) return hits
  const takes = (one: Hit | undefined, from: number, to: number) =>
    one !== undefined && (one.category === "other" || one.category === "deal") && joint.test(folded.slice(from, to))
      ? one.category
      : undefined
  return hits.map((hit, index) => {
    if (hit.category !== "code" && hit.category !== "otp") return hit
    const [before, behind] = [hits[index - 1], hits[index + 1]]
    const category =
      takes(before, before?.to ?? 0, hit.from) ?? takes(behind, hit.to, behind?.from ?? 0) ?? hit.category
    return { ...hit, category }
  })
}
