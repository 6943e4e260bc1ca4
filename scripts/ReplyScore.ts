/** A mail, its reply according to a person, and the extracted reply. */
export interface Scored {
  readonly name: string
  readonly mail: string
  readonly wanted: string
  readonly found: string
}

/** The number of exact replies, and the shares of words. */
export interface ReplyScore {
  readonly mails: number
  readonly exact: number
  /** The share of the reply's words that were found. */
  readonly kept: number
  /** The share of the quoted words that remain. */
  readonly left: number
  /** The names of mails without an exact reply. */
  readonly others: ReadonlyArray<string>
}

const countOf = (text: string): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

export const of = (all: ReadonlyArray<Scored>): ReplyScore => {
  let kept = 0
  let wantedWords = 0
  let left = 0
  let quotedWords = 0
  for (const { found, mail, wanted } of all) {
    const inFound = countOf(found)
    const inWanted = countOf(wanted)
    for (const [word, count] of inWanted) {
      wantedWords += count
      kept += Math.min(count, inFound.get(word) ?? 0)
    }
    for (const [word, count] of countOf(mail)) {
      const own = inWanted.get(word) ?? 0
      const quoted = Math.max(0, count - own)
      quotedWords += quoted
      left += Math.min(quoted, Math.max(0, (inFound.get(word) ?? 0) - own))
    }
  }
  const others = all.filter(({ found, wanted }) => found.trim() !== wanted.trim()).map(({ name }) => name)
  return {
    mails: all.length,
    exact: all.length - others.length,
    kept: wantedWords === 0 ? 1 : kept / wantedWords,
    left: quotedWords === 0 ? 0 : left / quotedWords,
    others
  }
}
