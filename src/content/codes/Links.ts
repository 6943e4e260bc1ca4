import type { SeenLink } from "../html/SeenHtml.ts"
import * as LinkKind from "./LinkKind.ts"
import * as Secret from "./Secret.ts"
import type { SpokenLines } from "./SpokenLines.ts"
import * as WordSearch from "./WordSearch.ts"

/** A main link of a mail, as an event lists it. */
export interface Link {
  readonly kind: LinkKind.LinkKind
  readonly url: string
  /** Its visible text, or empty for a bare address. */
  readonly text: string
  readonly host: string
}

export interface Source {
  readonly spoken: SpokenLines
  readonly links: ReadonlyArray<SeenLink>
}

/** The maximum numbers of links to search, of characters in a link, and of links to return. */
export const mostLooked = 500
export const longestUrl = 2_048
const mostTold = 5
/** Maximum different links. */
const mostKnown = 100
/** A mail with more links is a list of links, such as a newsletter with tracked clicks. */
const many = 12
const longestText = 200
const mostLabels = 4

/** A URL with its link text. */
interface Target {
  readonly url: string
  readonly labels: Set<string>
  button: boolean
  readonly spoken: SpokenLines
  readonly line: number
}

interface Known extends Target {
  readonly text: string
  readonly hasSecret: boolean
  readonly order: number
  /** Scores from its address and text. */
  readonly votes: LinkKind.Votes
}

/**
 * Returns the main links of a mail, best first: those with a secret and a stated purpose, and the only button.
 * Excludes quoted and footer links.
 */
export const find = (about: SpokenLines, sources: ReadonlyArray<Source>): ReadonlyArray<Link> => {
  const known = read(targetsOf(sources)).filter(({ votes }) => votes.foot <= LinkKind.most(votes).votes)
  const buttons = known.filter(({ button }) => button).length
  const secrets = known.filter(({ hasSecret }) => hasSecret).length
  const subject = LinkKind.none()
  if (known.length > 0) LinkKind.hear(subject, about.hits(0), 4)
  const found: Array<{ readonly link: Link; readonly score: number }> = []
  for (const each of known) {
    const { button, hasSecret, order, url, votes } = each
    const isTheOne = button ? buttons === 1 : hasSecret && secrets === 1 && buttons === 0
    if (!isTheOne && !hasSecret) continue
    if (isTheOne || button || secrets <= many) listen(each)
    const own = LinkKind.most(votes)
    if (!isTheOne && own.votes < 2) continue
    LinkKind.add(votes, subject)
    const { kind, votes: most } = LinkKind.most(votes)
    const host = URL.parse(url)?.hostname ?? ""
    if (host === "") continue
    const score = most + (hasSecret ? 6 : 0) + (button ? 4 : 0) + (isTheOne ? 4 : 0) - votes.foot * 2 - order / 1_000
    found.push({ link: { kind, url, text: each.text, host }, score: kind === "other" ? score - 4 : score })
  }
  return found
    .sort((one, other) => other.score - one.score)
    .slice(0, mostTold)
    .map(({ link }) => link)
}

const isUrl = /^https?:\/\/./i
const isAddress = /^(?:https?:\/\/|www\.)/i

const targetsOf = (sources: ReadonlyArray<Source>): ReadonlyArray<Target> => {
  const targets = new Map<string, Target>()
  let looked = 0
  for (const { links, spoken } of sources) {
    for (const { button, image, line, quoted, text, url } of links) {
      if (++looked > mostLooked) break
      if (quoted || (image && text === "") || url.length > longestUrl) continue
      const before = targets.get(url)
      if (before === undefined && (targets.size === mostKnown || !isUrl.test(url))) continue
      const target = before ?? { url, labels: new Set(), button: false, spoken, line }
      if (before === undefined) targets.set(url, target)
      // The text of the button comes first.
      if (text !== "" && !isAddress.test(text) && !url.includes(text)) {
        if (button && !target.button) target.labels.clear()
        if (target.labels.size < mostLabels) target.labels.add(text.slice(0, longestText))
      }
      target.button ||= button
    }
  }
  return [...targets.values()]
}

/** In a list of links, only links with a stated purpose are considered. */
const read = (targets: ReadonlyArray<Target>): ReadonlyArray<Known> =>
  targets.flatMap((target, order) => {
    const votes = LinkKind.none()
    for (const label of target.labels) {
      LinkKind.hear(votes, WordSearch.search(WordSearch.fold(label)), target.button ? 6 : 4)
    }
    if (targets.length > many && !target.button && !LinkKind.isAny(votes)) return []
    LinkKind.hearUrl(votes, target.url, 3)
    const [text = ""] = target.labels
    return [{ ...target, text, votes, order, hasSecret: Secret.isIn(target.url) }]
  })

/** Adds the votes of the link's sentence, and of the two before it. */
const listen = ({ line, spoken, votes }: Known): void => {
  const around = LinkKind.none()
  for (const [place, weight] of [
    [line, 2],
    [line - 1, 1],
    [line - 2, 0.5]
  ] as const) {
    if (spoken.lines[place]?.quoted === false) LinkKind.hear(around, spoken.hits(place), weight)
  }
  LinkKind.add(votes, around)
}
