/** A part of a text, from one position to another. */
export type Part = readonly [from: number, to: number]

const before = "⟦"
const after = "⟧"

/** A text without the brackets of marks, so that mail cannot forge them. */
export const plain = (text: string): string =>
  text.includes(before) || text.includes(after) ? text.replaceAll(before, "[").replaceAll(after, "]") : text

/** Marks a text: `⟦uncertain: …⟧`. */
export const as = (name: "uncertain" | "plain text only", text: string): string => `${before}${name}: ${text}${after}`

/** A slice of a text with its uncertain parts marked. `write` renders each piece. */
export const slice = (
  text: string,
  uncertain: ReadonlyArray<Part> | undefined,
  [from, to]: Part,
  write: (piece: string) => string = (piece) => piece
): string => {
  if (uncertain === undefined) return write(text.slice(from, to))
  let written = ""
  let at = from
  for (const [start, end] of uncertain) {
    if (end <= at || start >= to) continue
    if (start > at) written += write(text.slice(at, start))
    written += as("uncertain", write(text.slice(Math.max(start, at), Math.min(end, to))))
    at = Math.min(end, to)
  }
  return at < to ? written + write(text.slice(at, to)) : written
}

/** A slice with complete marks, if the text before it or the slice ends inside of one. */
export const closed = (piece: string, previous: string): string => {
  const open = previous.lastIndexOf(before)
  const isInside = open > previous.lastIndexOf(after)
  const name = /^⟦([a-z ]+): /.exec(previous.slice(open))?.[1] ?? "uncertain"
  const whole = isInside ? `${before}${name}: ${piece}` : piece
  return whole.lastIndexOf(before) > whole.lastIndexOf(after) ? whole + after : whole
}
