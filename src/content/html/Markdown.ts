import type { Frame } from "./Frame.ts"
import type { Line } from "./Line.ts"
import type { Link } from "./Link.ts"
import * as Marked from "./Marked.ts"

/** A link by its number in the text: `[words][1]`. */
export interface Reference {
  readonly ref: number
  readonly text: string
  readonly url: string
}

/** Maximum rows and columns of a rendered table. Larger ones become lines. */
const mostColumns = 20
const mostRows = 2_000

/** Characters to escape in Markdown, brackets included, so that mail cannot forge a link reference. */
const escaped = (text: string): string => withImages(text.replace(/[\\`*[\]<]/g, "\\$&"))

/** Parentheses around image text, because square brackets are escaped. Each start has an end, so a search is linear. */
const withImages = (text: string): string => {
  const end = text.lastIndexOf("\\]") + 1
  return text.slice(0, end + 1).replace(/\\\[image: ([\s\S]*?)\\\]/g, "(image: $1)") + text.slice(end + 1)
}

const escapedStart = (text: string): string => text.replace(/^(\s*)([#>+|~=-]|\d+[.)](?=\s))/, "$1\\$2")

/** Numbers links, one number for each URL. */
export class References {
  readonly all: Array<Reference> = []
  readonly #numbers = new Map<string, number>()

  of({ isUncertain, text, url }: Link): number {
    const known = this.#numbers.get(url)
    if (known !== undefined) return known
    const ref = this.all.length + 1
    this.#numbers.set(url, ref)
    const words = Marked.plain(text.slice(0, 200).toWellFormed())
    this.all.push({ ref, text: isUncertain ? Marked.as("uncertain", words) : words, url })
    return ref
  }
}

const tableOf = (line: Line): Frame | undefined => {
  let at = line.frame.row?.table
  while (at !== undefined && at.name !== "table") at = at.parent
  return at
}

/** The line with its links as references. */
const withLinks = (line: Line, links: ReadonlyArray<Link>, index: number, references: References): string => {
  let text = ""
  let at = 0
  const piece = (from: number, to: number) =>
    Marked.slice(line.text, line.uncertain, [from, to], (part) => escaped(Marked.plain(part)))
  for (const link of links) {
    const start = link.line === index ? link.startAt : 0
    if (start < at || link.endAt <= start) continue
    text += `${piece(at, start)}[${piece(start, link.endAt)}][${references.of(link)}]`
    at = link.endAt
  }
  text += piece(at, line.text.length)
  return at === 0 ? escapedStart(text) : text
}

type Row = ReadonlyArray<string>

/** Table rows with one line in each cell, and at least two rows with text in two cells. */
const rowsOf = (lines: ReadonlyArray<Line>, texts: ReadonlyArray<string>): ReadonlyArray<Row> | undefined => {
  const rows = new Map<object, Array<string>>()
  for (const [index, line] of lines.entries()) {
    const { column, row } = line.frame
    if (row === undefined || column > mostColumns) return undefined
    const cells = rows.get(row) ?? []
    if (cells[column - 1] !== undefined) return undefined
    cells[column - 1] = (texts[index] ?? "").replaceAll("|", "\\|")
    rows.set(row, cells)
  }
  const all = [...rows.values()]
  const isData = all.filter((cells) => cells.filter((cell) => cell !== undefined).length > 1).length > 1
  return isData && all.length <= mostRows ? all : undefined
}

const table = (rows: ReadonlyArray<Row>): string => {
  const columns = Math.max(...rows.map(({ length }) => length))
  const line = (cells: Row) => `| ${Array.from({ length: columns }, (_, at) => cells[at] ?? "").join(" | ")} |`
  const [first, ...others] = rows.map(line)
  return [first, `|${" --- |".repeat(columns)}`, ...others].join("\n")
}

/** Renders lines as Markdown: headings, lists, quotations, code and tables, links as references, images as text. */
export const render = (lines: ReadonlyArray<Line>, links: ReadonlyArray<Link>, references: References): string => {
  const byLine = Map.groupBy(links, ({ endLine }) => endLine)
  const blocks: Array<string> = []
  /** Layout tables. */
  const layouts = new Set<Frame>()
  let last: Line | undefined
  const put = (text: string, line: Line, isApart: boolean) => {
    const quote = line.quoted ? "> " : ""
    const before = last === undefined ? "" : isApart || last.quoted !== line.quoted ? "\n\n" : "\n"
    blocks.push(before + (quote === "" ? text : text.replace(/^/gm, quote)))
  }
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]
    if (line === undefined) break
    const group = tableOf(line)
    if (group !== undefined && !layouts.has(group)) {
      let end = index
      while (lines[end] !== undefined && tableOf(lines[end] as Line) === group) end++
      const own = lines.slice(index, end)
      const texts = own.map((each, at) => withLinks(each, byLine.get(index + at) ?? [], index + at, references))
      const rows = own.length > 1 ? rowsOf(own, texts) : undefined
      if (rows !== undefined) {
        put(table(rows), line, true)
        last = own.at(-1)
        index = end - 1
        continue
      }
      layouts.add(group)
    }
    if (line.isPreserved) {
      let end = index
      while (lines[end]?.isPreserved === true && (end === index || lines[end]?.gap === 1)) end++
      const code = lines
        .slice(index, end)
        .map(({ text, uncertain }) => Marked.slice(text, uncertain, [0, text.length], Marked.plain))
      const fence = code.some((each) => each.includes("```")) ? "~~~~" : "```"
      put([fence, ...code, fence].join("\n"), line, true)
      last = lines[end - 1]
      index = end - 1
      continue
    }
    const text = withLinks(line, byLine.get(index) ?? [], index, references)
    const indent = "  ".repeat(Math.min(8, Math.max(0, line.listDepth - (line.marker === "" ? 0 : 1))))
    const isHeading = line.heading > 0
    if (line.gap === 0 && last !== undefined && !isHeading && line.marker === "") blocks.push(` ${text}`)
    else
      put(
        isHeading ? `${"#".repeat(line.heading)} ${text}` : indent + line.marker + text,
        line,
        line.gap === 2 || isHeading
      )
    last = line
  }
  return blocks.join("")
}
