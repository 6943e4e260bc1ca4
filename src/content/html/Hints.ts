import * as Color from "../css/Color.ts"
import type { Tag } from "./HtmlTokens.ts"

const fontSizes = [10, 10, 13, 16, 18, 24, 32, 48]

const colorOf = (property: string, value: string | undefined): string => {
  const color = value === undefined ? undefined : Color.legacy(value)
  return color === undefined ? "" : `${property}:#${color.toString(16).padStart(8, "0")};`
}

/** The legacy attribute of a background image. */
const imageOf = (value: string | undefined): string => {
  if (value === undefined || value.trim() === "") return ""
  return /^\s*(?:data|cid):/i.test(value) ? "background-image:url(data:);" : "background-image:url(x);"
}

const sizeOf = (value: string | undefined): string => {
  const match = value === undefined ? null : /^\s*([+-]?)(\d{1,4})/.exec(value)
  if (match === null) return ""
  const number = Number(match[2])
  const size = match[1] === "+" ? 3 + number : match[1] === "-" ? 3 - number : number
  return `font-size:${fontSizes[Math.max(1, Math.min(7, size))]}px;`
}

export const usualLink = "color:#0000ee;"

/** The style of the links of a body. */
export const linkOf = (body: Tag): string => colorOf("color", body.attribute("link")) || usualLink

/** The styles of presentational attributes. Style sheets win over them. `link` is the style of links. */
export const css = (name: string, tokens: Tag, link: string): string => {
  if (!tokens.hasAttributes()) return ""
  let text = ""
  switch (name) {
    case "a":
      if (tokens.attribute("href") !== undefined) text = link
      break
    case "font":
      text = colorOf("color", tokens.attribute("color")) + sizeOf(tokens.attribute("size"))
      break
    case "body":
      text =
        colorOf("color", tokens.attribute("text")) +
        colorOf("background-color", tokens.attribute("bgcolor")) +
        imageOf(tokens.attribute("background"))
      break
    case "table":
    case "tbody":
    case "thead":
    case "tfoot":
    case "tr":
    case "td":
    case "th":
    case "col":
    case "colgroup":
      text = colorOf("background-color", tokens.attribute("bgcolor")) + imageOf(tokens.attribute("background"))
      break
    case "object":
      if (tokens.attribute("data") !== undefined || tokens.attribute("type") !== undefined) text = "display:none;"
      break
    case "dialog":
      if (tokens.attribute("open") !== undefined) text = "display:block;"
  }
  const isHidden = tokens.attribute("hidden") !== undefined || tokens.attribute("popover") !== undefined
  return isHidden ? `${text}display:none;` : text
}
