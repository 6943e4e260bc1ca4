/** A field of a header with its folded lines and without its final line end. */
export interface PlainField {
  /** In lower case. */
  readonly name: string
  /** One character for each byte. */
  readonly line: string
}

/** The start of a field, or a folded line (RFC 5322, sections 2.2 and 2.2.3). */
const plainLine = /^(?:([!-9;-~]+)[ \t]*:|[ \t]).*$/

/**
 * The fields of an unambiguous header: each line starts or continues a field, and ends in CRLF. Undefined for any
 * other, and without an empty line at the end.
 */
export const fields = (header: string): ReadonlyArray<PlainField> | undefined => {
  if (!header.endsWith("\r\n\r\n")) return undefined
  const found: Array<{ readonly name: string; line: string }> = []
  for (const line of header.slice(0, -4).split("\r\n")) {
    const match = plainLine.exec(line)
    const name = match?.[1]
    const last = found.at(-1)
    if (name !== undefined) found.push({ name: name.toLowerCase(), line })
    else if (match !== null && last !== undefined) last.line += `\r\n${line}`
    else return undefined
  }
  return found
}

/** The value after the colon in one line, whitespace collapsed and trimmed. */
export const value = (line: string): string => {
  const text = line
    .slice(line.indexOf(":") + 1)
    .replaceAll("\r\n", "")
    .replace(/[ \t]{2,}|\t/g, " ")
  return text.slice(text.startsWith(" ") ? 1 : 0, text.length > 1 && text.endsWith(" ") ? -1 : undefined)
}

const atoms = "[\\w!#$%&'*+/=?^`{|}~-]+(?:\\.[\\w!#$%&'*+/=?^`{|}~-]+)*"
const address = `(${atoms}@[A-Za-z\\d-]+(?:\\.[A-Za-z\\d-]+)+)`
const name = `(?:[\\w!#$%&'*+/=?^\`{|}~. -]*|"[ !#-[\\]-~]*" ?)`
const plainAuthor = new RegExp(`^(?:${address}|${name}<${address}>)$`)

/** The single address of a From field in the usual form (RFC 5322, section 3.4), or undefined. */
export const author = (fields: ReadonlyArray<PlainField>): string | undefined => {
  const [from, another] = fields.filter(({ name }) => name === "from")
  if (from === undefined || another !== undefined) return undefined
  const [, alone, bracketed] = plainAuthor.exec(value(from.line)) ?? []
  return alone ?? bracketed
}
