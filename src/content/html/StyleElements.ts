import * as MediaQuery from "../css/MediaQuery.ts"
import { HtmlTokens } from "./HtmlTokens.ts"

/** Where sheets may begin. */
const starts = /<(?:style|link)/gi

/** A sheet in a URL. Mail programs do not load any other. */
const inUrl = /^data:text\/css[^,]{0,100}?(;base64)?,([\s\S]*)$/i

const decoded = (url: string): string | undefined => {
  const match = inUrl.exec(url.trim())
  if (match === null) return undefined
  const [, isBase64, content = ""] = match
  if (isBase64 !== undefined) return Buffer.from(content, "base64").toString()
  return content.replace(/(?:%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll("%", ""), "hex").toString())
}

/** A sheet for some media. */
const forMedia = (media: string, css: string): string | undefined => {
  const holds = media === "" ? true : MediaQuery.holds(media)
  return holds === false ? undefined : holds === true ? css : `@media ${media}{${css}}`
}

/** Elements in which a browser may ignore a sheet. */
const doubtful = /^(?:template|select|noscript|svg|math)$/

/**
 * Finds the style sheets of a mail in order. The last ones apply to its beginning, so they are read first. A sheet that
 * a browser may ignore becomes a layer, whose rules may apply or not.
 */
export const read = (html: string): ReadonlyArray<string> => {
  let last = -1
  for (const { index } of html.matchAll(starts)) last = index
  if (last < 0) return []
  const sheets: Array<string> = []
  const tokens = new HtmlTokens(html)
  let media: string | undefined
  let isSure = true
  let depth = 0
  const add = (text: string) => {
    const sheet = media === undefined ? undefined : forMedia(media, text)
    if (sheet === undefined) return
    sheets.push(isSure ? sheet : `@layer{${sheet}}`)
  }
  while (tokens.position <= last || tokens.isInRaw) {
    const token = tokens.next()
    if (token === "end") break
    if (token === "text") {
      if (tokens.rawOf === "style") add(tokens.text)
    } else if (doubtful.test(tokens.name)) depth = Math.max(0, depth + (token === "open" ? 1 : -1))
    else if (token === "open" && (tokens.name === "style" || tokens.name === "link")) {
      const type = tokens.attribute("type")?.trim().toLowerCase() ?? ""
      const rel = tokens.attribute("rel")?.toLowerCase() ?? ""
      const href = tokens.name === "link" ? tokens.attribute("href") : undefined
      media = type === "" || type === "text/css" ? (tokens.attribute("media")?.trim() ?? "") : undefined
      // Of the titled sheets a browser applies some.
      const isChosen = (tokens.attribute("title") ?? "") === "" && !/alternate/.test(rel)
      isSure = depth === 0 && isChosen && tokens.attribute("disabled") === undefined
      if (href !== undefined && rel.includes("stylesheet")) add(decoded(href) ?? "")
    }
  }
  return sheets
}
