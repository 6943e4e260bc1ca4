import * as LinkDisguise from "./LinkDisguise.ts"
import * as LinkKind from "./LinkKind.ts"
import * as PlainLines from "./PlainLines.ts"
import * as Secret from "./Secret.ts"
import * as SpokenLines from "./SpokenLines.ts"
import * as WordSearch from "./WordSearch.ts"

/** A main link of a mail, as an event lists it. */
export interface Link {
  readonly kind: LinkKind.LinkKind
  readonly url: string
  /** Its visible text, or the sentence before a bare address. The address of another site is text. */
  readonly text: string
  readonly host: string
  /** `low` if a person may not see it, sees the address of another site, or refuses something with it. */
  readonly confidence: "high" | "low"
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
const reachAbove = 3
const reachHeading = 12
const headingSize = 20
const urls = /\bhttps?:\/\/\S+/g

/** A URL with its link text. */
interface Target {
  readonly url: string
  readonly labels: Set<string>
  button: boolean
  /** The address of another site, which a person sees in its place. */
  disguise: string
  /** A person may not see it, or not where it leads. */
  isUncertain: boolean
  readonly spoken: SpokenLines.SpokenLines
  readonly line: number
}

interface Known extends Target {
  readonly text: string
  readonly hasSecret: boolean
  /** Its label or line states a purpose, and its URL has a short key or a number: `/v/Xy7Kp2Qa`, `/verify?id=12345`. */
  readonly isStated: boolean
  readonly order: number
  /** Scores from its address and text. */
  readonly votes: LinkKind.Votes
}

/**
 * Returns the main links of a mail, best first: those with a secret and a stated purpose, those whose line states it,
 * and the only button. Excludes quoted and footer links. In a post of a list only a secret counts. If plain text
 * stands in for HTML, `shown` is what the HTML surely shows.
 */
export const find = (
  about: SpokenLines.SpokenLines,
  sources: ReadonlyArray<SpokenLines.Source>,
  { isList, shown }: { readonly isList: boolean; readonly shown: string | null }
): ReadonlyArray<Link> => {
  const known = read(targetsOf(sources, shown), isList).filter(({ votes }) => votes.foot <= LinkKind.most(votes).votes)
  const accepting = known.filter(({ votes }) => votes.refuse === 0)
  const buttons = accepting.filter(({ button }) => button).length
  const secrets = accepting.filter(({ hasSecret }) => hasSecret).length
  const taken = linesOf(known)
  const subject = LinkKind.none()
  if (known.length > 0) LinkKind.hear(subject, about.hits(0), 4)
  const found: Array<{ readonly link: Link; readonly score: number }> = []
  for (const each of known) {
    const { button, hasSecret, isStated, order, url, votes } = each
    const isRefusal = votes.refuse + subject.refuse > 0
    const isTheOne = !isRefusal && (button ? buttons === 1 : hasSecret && secrets === 1 && buttons === 0)
    if (!isTheOne && !hasSecret && !isStated) continue
    if (isTheOne || button || secrets <= many) listen(each, taken.get(each.spoken))
    const own = LinkKind.most(votes)
    if (!isTheOne && own.votes < LinkKind.pathWeight) continue
    LinkKind.add(votes, subject, hasSecret || isStated)
    const { kind, votes: most } = isRefusal ? LinkKind.refusal : LinkKind.most(votes)
    const host = URL.parse(url)?.hostname ?? ""
    if (host === "") continue
    const score = most + (hasSecret ? 6 : 0) + (button ? 4 : 0) + (isTheOne ? 4 : 0) - votes.foot * 2 - order / 1_000
    const isLow = each.isUncertain || isRefusal
    found.push({
      link: { kind, url, text: each.text, host, confidence: isLow ? "low" : "high" },
      score: (kind === "other" ? score - 4 : score) - (isLow ? 1_000 : 0)
    })
  }
  return found
    .sort((one, other) => other.score - one.score)
    .slice(0, mostTold)
    .map(({ link }) => link)
}

const isUrl = /^https?:\/\/./i
const isAddress = /^(?:https?:\/\/|www\.)/i

const targetsOf = (sources: ReadonlyArray<SpokenLines.Source>, shown: string | null): ReadonlyArray<Target> => {
  const targets = new Map<string, Target>()
  let looked = 0
  let seen: ReadonlySet<string> | undefined
  const isPlainOnly = (url: string) => {
    if (shown === null) return false
    seen ??= PlainLines.shownUrls(shown, longestUrl)
    return !seen.has(url)
  }
  for (const { links, name, spoken } of sources) {
    for (const { button, image, isUncertain, line, quoted, text, url } of links) {
      if (++looked > mostLooked) break
      if (quoted || (image && text === "") || url.length > longestUrl) continue
      const before = targets.get(url)
      if (before === undefined && (targets.size === mostKnown || !isUrl.test(url))) continue
      const target = before ?? { url, labels: new Set(), button: false, disguise: "", isUncertain: true, spoken, line }
      if (before === undefined) targets.set(url, target)
      // The text of the button comes first.
      if (text !== "" && !isAddress.test(text) && !url.includes(text)) {
        if (button && !target.button) target.labels.clear()
        if (target.labels.size < mostLabels) target.labels.add(text.slice(0, longestText))
      }
      target.button ||= button
      const disguised = LinkDisguise.isIn(text, url)
      if (disguised) target.disguise = text.slice(0, longestText)
      target.isUncertain &&= disguised || isUncertain === true || (name === "text" && isPlainOnly(url))
    }
  }
  return [...targets.values()]
}

/** In a list of links, only links with a stated purpose are considered. */
const read = (targets: ReadonlyArray<Target>, isList: boolean): ReadonlyArray<Known> =>
  targets.flatMap((target, order) => {
    const votes = LinkKind.none()
    for (const label of target.labels) {
      LinkKind.hear(votes, WordSearch.search(WordSearch.fold(label)), target.button ? 6 : 4)
    }
    const isLabelled = LinkKind.isAny(votes)
    if (targets.length > many && !target.button && !isLabelled) return []
    const hasSecret = Secret.isIn(target.url)
    const mayBeStated = !hasSecret && !isList && targets.length <= many && Secret.hasShortKey(target.url)
    const isStated = mayBeStated && (isLabelled || isStatedBeside(target))
    LinkKind.hearUrl(votes, target.url, hasSecret)
    const [text = target.disguise] = target.labels
    return [{ ...target, text, votes, order, hasSecret, isStated }]
  })

/** Whether the line of a link states a purpose: "To verify your address, click here". */
const isStatedBeside = ({ line, spoken }: Target): boolean => LinkKind.hear(LinkKind.none(), spokenBy(spoken, line), 1)

/** The lines of the links with a secret. They speak of their own link. */
const linesOf = (known: ReadonlyArray<Known>): ReadonlyMap<SpokenLines.SpokenLines, ReadonlySet<number>> => {
  const lines = new Map<SpokenLines.SpokenLines, Set<number>>()
  for (const { hasSecret, line, spoken } of known) {
    if (hasSecret) lines.set(spoken, (lines.get(spoken) ?? new Set()).add(line))
  }
  return lines
}

/** Adds the votes of the nearest lines that name a purpose, from the link's line upwards, and of its heading. */
const listen = (
  { hasSecret, isStated, labels, line, spoken, votes }: Known,
  taken: ReadonlySet<number> | undefined
): void => {
  const around = LinkKind.none()
  let weight = 2
  for (let place = line; place >= 0 && place > line - reachHeading; place--) {
    const each = spoken.lines[place]
    if (each === undefined || each.quoted) break
    const isNear = place > line - reachAbove
    if (!isNear && each.fontSize < headingSize) continue
    if (place !== line && taken?.has(place) === true) continue
    // The label has voted already.
    if (!labels.has(each.text) && LinkKind.hear(around, spokenBy(spoken, place), weight)) weight /= 2
    if (!isNear) break
  }
  LinkKind.add(votes, around, hasSecret || isStated)
}

/** The words of a line without those of its URLs. */
const spokenBy = (spoken: SpokenLines.SpokenLines, place: number): ReadonlyArray<WordSearch.Hit> =>
  spoken.folded(place).includes("://")
    ? WordSearch.search(spoken.folded(place).slice(0, SpokenLines.longest).replace(urls, " "))
    : spoken.hits(place)
