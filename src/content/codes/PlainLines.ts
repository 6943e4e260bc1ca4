import type { SeenLine, SeenLink } from "../html/SeenHtml.ts"

/** Lines of plain text with their links, in the form of HTML lines. */
export interface PlainText {
  readonly lines: ReadonlyArray<SeenLine>
  readonly links: ReadonlyArray<SeenLink>
}

/** A line that precedes a copy of the answered mail. All lines below it are old. */
const original =
  /^[\s>]*(?:-{2,} ?(?:original message|ursprüngliche nachricht|message d'origine|mensaje original)|_{20,}$)/i

const starts = /https?:\/\//gi
/** Ends a URL in plain text: space, surrounding brackets and quotes, and letters of scripts without spaces. */
const ends = /[\s<>"\u3000-\u9fff\uff00-\uffef]|$/g
const stop = /[.,;:!?'*_\])}]/
/** Ends a label: brackets, quotes, colons, arrows and dashes before the URL. */
const beforeUrl = /[\s([<:："'“„«»「『→➜>=|–—-]/
const longestLabel = 120
const sentenceEnd = /[.!?。！？؟।]\s+(?=\S)/g

/** The visible lines of the first `most` characters. A line that starts with `>` is quoted. */
export const read = (text: string, most: number, mostLinks: number, longestUrl: number): PlainText => {
  const lines: Array<SeenLine> = []
  const links: Array<SeenLink> = []
  const end = Math.min(text.length, most)
  let from = 0
  let element = 0
  let isOld = false
  while (from < end) {
    const found = text.indexOf("\n", from)
    const to = found === -1 || found > end ? end : found
    const line = text.slice(from, to).trim()
    from = to + 1
    if (line === "") {
      element++
      continue
    }
    isOld ||= line.length < 100 && original.test(line)
    const quoted = isOld || line.startsWith(">")
    if (!quoted && links.length < mostLinks && line.includes("://")) {
      for (const { text: label, url } of urls(line, longestUrl)) {
        if (links.length === mostLinks) break
        const text = label === "" && line.startsWith(url) ? announced(lines.at(-1)) : label
        links.push({ url, text, line: lines.length, button: false, image: false, quoted })
      }
    }
    lines.push({ text: line, element, cells: 0, fontSize: 16, spaced: false, names: "", quoted, strong: false })
  }
  return { lines, links }
}

/** The URLs in lines of HTML without a link, which mail programs show as links. */
export const bare = (
  lines: ReadonlyArray<SeenLine>,
  links: ReadonlyArray<SeenLink>,
  mostLinks: number,
  longestUrl: number
): ReadonlyArray<SeenLink> => {
  const linked = new Set(links.map(({ line }) => line))
  const found: Array<SeenLink> = []
  for (const [index, { quoted, text, uncertain }] of lines.entries()) {
    if (found.length >= mostLinks) break
    if (quoted || !text.includes("://") || linked.has(index)) continue
    const isUncertain = uncertain !== undefined
    for (const { text: label, url } of urls(text, longestUrl))
      found.push({ url, text: label, line: index, button: false, image: false, quoted, isUncertain })
  }
  return found
}

/** The URLs that a text shows. */
export const shownUrls = (text: string, longestUrl: number): ReadonlySet<string> =>
  new Set(urls(text, longestUrl).map(({ url }) => url))

/** The text of a URL is its sentence up to it: `Label ( https://… )`, `Label: https://…`, `登录：https://…`. */
const urls = (line: string, longest: number): Array<{ readonly url: string; readonly text: string }> => {
  const found: Array<{ readonly url: string; readonly text: string }> = []
  let label = 0
  starts.lastIndex = 0
  for (let match = starts.exec(line); match !== null; match = starts.exec(line)) {
    ends.lastIndex = match.index
    const to = ends.exec(line)?.index ?? line.length
    starts.lastIndex = Math.max(to, match.index + 1)
    if (to - match.index > longest) continue
    const url = trimmed(cut(line.slice(match.index, to)))
    if (url.length < 10) continue
    const text = withoutEnd(line.slice(Math.max(label, match.index - longestLabel), match.index), beforeUrl)
    found.push({ url, text: lastSentence(text).trim() })
    label = match.index + url.length + 1
  }
  return found
}

/** The last sentence of a line that ends with a colon, as the label of the URL below it. */
const announced = (above: SeenLine | undefined): string =>
  above !== undefined && !above.quoted && /[:：]$/.test(above.text)
    ? lastSentence(withoutEnd(above.text.slice(-longestLabel), beforeUrl)).trim()
    : ""

const lastSentence = (text: string): string => {
  let from = 0
  for (const { 0: end, index } of text.matchAll(sentenceEnd)) from = index + end.length
  return text.slice(from)
}

/** Cuts at a square bracket opened before the URL: [https://…]Or so. */
const cut = (url: string): string => {
  const at = url.indexOf("]")
  return at === -1 || url.lastIndexOf("[", at) !== -1 ? url : url.slice(0, at)
}

/** Removes trailing characters of a class. A regular expression for the whole run would try it from each position. */
const withoutEnd = (text: string, character: RegExp): string => {
  let end = text.length
  while (end > 0 && character.test(text[end - 1] ?? "")) end--
  return text.slice(0, end)
}

/** Removes punctuation around a URL. A closing bracket stays if the URL opened it. */
const trimmed = (url: string): string => {
  const bare = withoutEnd(url, stop)
  return url[bare.length] === ")" && bare.includes("(") ? `${bare})` : url[bare.length] === "_" ? `${bare}_` : bare
}
