import { decodeHTML, decodeHTMLAttribute } from "entities/decode"
import * as TextLooks from "./TextLooks.ts"
import * as Units from "./Units.ts"

/** The kind of a token. "end" is the last. */
export type Token = "text" | "open" | "close" | "end"

/** A start tag with its attributes. */
export interface Tag {
  readonly attribute: (name: string) => string | undefined
  readonly attributes: () => ReadonlyArray<string>
  readonly hasAttributes: () => boolean
}

/** Elements whose content is not markup. The marked ones contain character references. */
const raw = new Map([
  ["style", false],
  ["script", false],
  ["xmp", false],
  ["iframe", false],
  ["noembed", false],
  ["noframes", false],
  ["textarea", true],
  ["title", true]
])

const [tab, lineFeed, formFeed, carriageReturn, blank] = [9, 10, 12, 13, 32]
const [exclamation, quote, apostrophe, slash, equals, greater, question] = [33, 34, 39, 47, 61, 62, 63]

/**
 * Tokenizes HTML by the standard (section 13.2.5), so it sees the same tags as browsers. Reads each character a fixed
 * number of times.
 */
export class HtmlTokens {
  /** Tag name in lower case. */
  name = ""
  /** Text with decoded character references. */
  text = ""
  /** The text was the content of this element, in which markup is not parsed. */
  rawOf = ""
  isSelfClosing = false
  readonly #html: string
  /** Its UTF-16 units and a zero. */
  readonly #units: Uint16Array
  #at = 0
  readonly #hasReferences: boolean
  #raw = ""
  /** The position of the text. */
  #textFrom = 0
  #textTo = 0
  #isAsWritten = false
  /** Names and values of the tag's attributes, followed by remains of longer tags before it. */
  readonly #attributes: Array<string> = []
  /** Number of valid entries. Clearing the array would cost more than parsing a tag. */
  #count = 0

  constructor(html: string) {
    this.#html = html
    this.#units = Units.copy(html)
    this.#hasReferences = html.includes("&")
  }

  /** Of the last text. */
  get looks(): TextLooks.TextLooks {
    return this.#isAsWritten ? TextLooks.ofUnits(this.#units, this.#textFrom, this.#textTo) : TextLooks.of(this.text)
  }

  /** Attributes of a start tag. The first of equal names counts. */
  attribute(name: string): string | undefined {
    const attributes = this.#attributes
    for (let index = 0; index < this.#count; index += 2) {
      if (attributes[index] === name) return this.#valueOf(attributes[index + 1] ?? "")
    }
    return undefined
  }

  #valueOf(written: string): string {
    return this.#hasReferences && written.includes("&") ? decodeHTMLAttribute(written) : written
  }

  hasAttributes(): boolean {
    return this.#count > 0
  }

  /** All attributes, names and values alternating. */
  attributes(): ReadonlyArray<string> {
    return this.#attributes.slice(0, this.#count).map((text, index) => (index % 2 === 1 ? this.#valueOf(text) : text))
  }

  /** Expects the content of an element without markup. */
  get isInRaw(): boolean {
    return this.#raw !== ""
  }

  /** Position of the next token. */
  get position(): number {
    return this.#at
  }

  /** In SVG, `style` and `title` are ordinary tags. */
  readMarkup() {
    this.#raw = ""
  }

  next(): Token {
    const html = this.#html
    if (this.#raw !== "") return this.#rawText(this.#raw)
    let start = this.#at
    let from = start
    for (;;) {
      const open = html.indexOf("<", from)
      if (open < 0) return this.#textUntil(start, html.length)
      const code = html.charCodeAt(open + 1)
      const isStart = isLetter(code)
      const isEnd = code === slash && isLetter(html.charCodeAt(open + 2))
      if (isStart || isEnd) {
        if (open > start) return this.#textUntil(start, open)
        return isStart ? this.#tag(open + 1, "open") : this.#tag(open + 2, "close")
      }
      const isComment = code === exclamation || code === question || (code === slash && open + 2 < html.length)
      if (!isComment) from = open + 1
      else if (open > start) return this.#textUntil(start, open)
      else from = start = endOfComment(html, open)
    }
  }

  #textUntil(start: number, end: number): Token {
    this.#at = end
    this.rawOf = ""
    if (end === start) return "end"
    return this.#textOf(start, end, true)
  }

  #textOf(start: number, end: number, readsReferences: boolean): Token {
    const written = this.#html.slice(start, end)
    this.#textFrom = start
    this.#textTo = end
    this.text = readsReferences && this.#hasReferences && written.includes("&") ? decodeHTML(written) : written
    this.#isAsWritten = this.text === written
    return "text"
  }

  #rawText(name: string): Token {
    const html = this.#html
    const start = this.#at
    this.#raw = ""
    const end = endOfRaw(html, start, name)
    this.#at = end
    if (end === start) return end === html.length ? "end" : this.next()
    this.rawOf = name
    return this.#textOf(start, end, raw.get(name) === true)
  }

  #tag(start: number, token: "open" | "close"): Token {
    const html = this.#html
    const units = this.#units
    const attributes = this.#attributes
    let at = start
    let isLower = true
    for (;;) {
      const code = units[at] ?? 0
      if (code === greater || code === slash || isBlank(code) || at >= html.length) break
      isLower &&= code >= 97 && code <= 122
      at++
    }
    const name = html.slice(start, at)
    this.name = isLower ? name : name.toLowerCase()
    let count = 0
    // Up to its end.
    this.#count = 0
    this.isSelfClosing = false
    for (;;) {
      if (at >= html.length) {
        // An unterminated tag swallows the rest.
        this.#at = html.length
        return "end"
      }
      let code = units[at] ?? 0
      if (code === greater) break
      if (isBlank(code) || code === slash) {
        this.isSelfClosing = code === slash
        at++
        continue
      }
      this.isSelfClosing = false
      const nameStart = at++
      let isLowerName = code >= 97 && code <= 122
      for (;;) {
        code = units[at] ?? 0
        if (code === equals || code === greater || code === slash || isBlank(code) || at >= html.length) break
        isLowerName &&= code >= 97 && code <= 122
        at++
      }
      const written = html.slice(nameStart, at)
      const attribute = isLowerName ? written : written.toLowerCase()
      while (isBlank(code)) code = units[++at] ?? 0
      let value = ""
      if (code === equals) {
        code = units[++at] ?? 0
        while (isBlank(code)) code = units[++at] ?? 0
        const valueStart = at
        if (code === quote || code === apostrophe) {
          const end = html.indexOf(code === quote ? '"' : "'", at + 1)
          if (end < 0) {
            this.#at = html.length
            return "end"
          }
          value = html.slice(at + 1, end)
          at = end + 1
        } else {
          while (code !== greater && !isBlank(code) && at < html.length) code = units[++at] ?? 0
          value = html.slice(valueStart, at)
        }
      }
      attributes[count++] = attribute
      attributes[count++] = value
    }
    this.#at = at + 1
    this.#count = count
    if (token === "open" && raw.has(this.name)) this.#raw = this.name
    return token
  }
}

const isLetter = (code: number) => (code >= 97 && code <= 122) || (code >= 65 && code <= 90)

const isBlank = (code: number) =>
  code === blank || code === lineFeed || code === tab || code === carriageReturn || code === formFeed

/** The position after a comment, a doctype or a bogus comment. */
const endOfComment = (html: string, open: number): number => {
  if (!html.startsWith("<!--", open)) {
    const end = html.indexOf(">", open)
    return end < 0 ? html.length : end + 1
  }
  if (html.startsWith(">", open + 4)) return open + 5
  if (html.startsWith("->", open + 4)) return open + 6
  for (let at = open + 4; ; ) {
    const end = html.indexOf("--", at)
    if (end < 0) return html.length
    if (html.charCodeAt(end + 2) === greater) return end + 3
    if (html.charCodeAt(end + 2) === exclamation && html.charCodeAt(end + 3) === greater) return end + 4
    at = end + 1
  }
}

/** The position of the end tag of an element without markup. */
const endOfRaw = (html: string, start: number, name: string): number => {
  for (let at = start; ; ) {
    const end = html.indexOf("</", at)
    if (end < 0) return html.length
    const after = html.charCodeAt(end + 2 + name.length)
    const isEnd = after === greater || after === slash || isBlank(after)
    if (isEnd && html.slice(end + 2, end + 2 + name.length).toLowerCase() === name) return end
    at = end + 2
  }
}
