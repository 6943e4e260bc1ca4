import { Parser } from "htmlparser2"

/** Longest text made from HTML, in UTF-16 units. */
const longest = 256 * 1024

/** Deepest nesting that is read: the parser's work at each tag grows with it, and no person wrote this. */
const deepest = 1_000

const silent = new Set(["head", "script", "style", "template", "noscript", "svg", "math", "title", "object"])
const paragraphs = new Set(["p", "table", "ul", "ol", "dl", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6"])
const lines = new Set([
  "div",
  "tr",
  "li",
  "dt",
  "dd",
  "section",
  "article",
  "header",
  "footer",
  "address",
  "form",
  "hr"
])

/**
 * The text a person would read in an HTML part, for agents that look at `text`
 * alone. Reads each tag once and keeps no tree; ends where the text is too long
 * or the nesting too deep.
 */
export const render = (html: string): string => {
  let text = ""
  let pending = ""
  let depth = 0
  let hidden = 0
  let preformatted = 0
  const links: Array<{ readonly href: string; readonly from: number }> = []

  const breakLine = (least: number) => {
    if (text !== "") pending = "\n".repeat(Math.max(least, pending.startsWith("\n") ? pending.length : 0))
  }
  const write = (part: string) => {
    if (part === "") return
    if (text.length >= longest) return parser.pause()
    text += pending + part
    pending = ""
  }

  const parser = new Parser({
    onopentag(name, attributes) {
      if (++depth > deepest) parser.pause()
      if (silent.has(name)) hidden++
      if (hidden > 0) return
      if (name === "br") breakLine(pending.startsWith("\n") ? pending.length + 1 : 1)
      else if (paragraphs.has(name)) breakLine(2)
      else if (lines.has(name)) breakLine(1)
      else if ((name === "td" || name === "th") && text !== "" && pending === "") pending = " "
      if (name === "pre") preformatted++
      if (name === "li") write("- ")
      if (name === "a") links.push({ href: attributes.href ?? "", from: text.length })
      if (name === "img" && attributes.alt !== undefined) write(attributes.alt.replace(/\s+/g, " "))
    },
    ontext(part) {
      if (hidden > 0) return
      if (preformatted > 0) return write(part)
      const words = part.replace(/[^\S\u00a0]+/g, " ").replaceAll("\u00a0", " ")
      if (words.startsWith(" ") && pending === "" && text !== "" && !/\s$/.test(text.slice(-1))) pending = " "
      write(words.trim())
      if (words.endsWith(" ") && words.trim() !== "") pending = " "
    },
    onclosetag(name) {
      depth--
      if (silent.has(name)) hidden = Math.max(0, hidden - 1)
      if (hidden > 0) return
      if (name === "a") {
        const link = links.pop()
        const label = text.slice(link?.from).trim()
        if (link !== undefined && /^(https?|mailto):/i.test(link.href) && label !== "" && !link.href.includes(label)) {
          pending = ""
          write(` [${link.href}]`)
        }
      } else if (paragraphs.has(name)) breakLine(2)
      else if (lines.has(name)) breakLine(1)
      if (name === "pre") preformatted = Math.max(0, preformatted - 1)
    }
  })
  parser.end(html)
  return text.slice(0, longest).trim()
}
