import * as Charset from "./Charset.ts"

/** One line of iCalendar: `NAME;PARAM=value:value` (RFC 5545, section 3.1). */
export interface ContentLine {
  /** In capitals. */
  readonly name: string
  readonly parameters: ReadonlyMap<string, string>
  readonly value: string
}

/** A component such as VEVENT, with its own lines and those of the components in it apart. */
export interface Component {
  readonly name: string
  readonly lines: ReadonlyArray<ContentLine>
  readonly components: ReadonlyArray<Component>
}

/** Deeper components are read as if they were not there. No calendar has more than three levels. */
const deepest = 8

const mostComponents = 200
const mostParameters = 20

/**
 * Parses iCalendar into components, in the charset of its part (RFC 5545, section 3.1.4). Skips malformed lines, and
 * ends open components at the end.
 */
export const parse = (content: Uint8Array, charset: string | undefined): Component => {
  // Unfolded as bytes, because a fold may divide a character.
  const unfolded = Buffer.from(content)
    .toString("latin1")
    .replace(/\r?\n[ \t]/g, "")
  const text = Charset.decode(Buffer.from(unfolded, "latin1"), charset)
  const root = { name: "", lines: [] as ContentLine[], components: [] as Component[] }
  const open = [root]
  let count = 0
  for (const raw of text.split(/\r?\n/)) {
    const line = lineOf(raw)
    const inner = open.at(-1)
    if (line === undefined || inner === undefined) continue
    if (line.name === "BEGIN") {
      const component = { name: line.value.trim().toUpperCase(), lines: [], components: [] }
      if (++count > mostComponents || open.length > deepest) break
      inner.components.push(component)
      open.push(component)
    } else if (line.name === "END") {
      if (open.length > 1) open.pop()
    } else inner.lines.push(line)
  }
  return root
}

const lineOf = (text: string): ContentLine | undefined => {
  const [name] = /^[\w-]+/.exec(text) ?? []
  if (name === undefined) return undefined
  const parameters = new Map<string, string>()
  let at = name.length
  while (text[at] === ";") {
    const form = /;([\w-]+)=((?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*)/y
    form.lastIndex = at
    const [whole, key, value] = form.exec(text) ?? []
    if (whole === undefined || key === undefined || value === undefined || parameters.size >= mostParameters) break
    parameters.set(key.toUpperCase(), value.replaceAll('"', ""))
    at += whole.length
  }
  return text[at] === ":" ? { name: name.toUpperCase(), parameters, value: text.slice(at + 1) } : undefined
}

/** The first line of a name. */
export const first = ({ lines }: Component, name: string): ContentLine | undefined =>
  lines.find((line) => line.name === name)

/** The value of a text line, without its escapes (RFC 5545, section 3.3.11). */
export const textOf = (value: string): string =>
  value.replace(/\\([nN\\;,])/g, (_, escaped: string) => (escaped.toLowerCase() === "n" ? "\n" : escaped))
