import * as MediaQuery from "../css/MediaQuery.ts"
import { HtmlTokens } from "./HtmlTokens.ts"

/** Finds the style sheets of a mail in order. The last ones apply to its beginning, so they are read first. */
export const read = (html: string): ReadonlyArray<string> => {
  let last = -1
  for (const { index } of html.matchAll(/<style/gi)) last = index
  if (last < 0) return []
  const sheets: Array<string> = []
  const tokens = new HtmlTokens(html)
  let counts = false
  while (tokens.position <= last || tokens.isInRaw) {
    const token = tokens.next()
    if (token === "end") break
    if (token === "open" && tokens.name === "style") {
      const type = tokens.attribute("type")?.trim().toLowerCase() ?? ""
      const media = tokens.attribute("media")?.trim() ?? ""
      counts = (type === "" || type === "text/css") && (media === "" || MediaQuery.holds(media))
    } else if (token === "text" && tokens.rawOf === "style" && counts) sheets.push(tokens.text)
  }
  return sheets
}
