// The SQL in source files, as far as their templates show it.

/** The text from here to the end of the parentheses around it. */
export const untilClosed = (text: string, from: number) => {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if (text[at] === "(") depth++
    if (text[at] === ")" && depth-- === 0) return text.slice(from, at)
  }
  return text.slice(from)
}

/** The text without its subqueries. */
export const withoutSubqueries = (text: string): string => {
  const open = text.indexOf("(")
  if (open === -1) return text
  const inner = untilClosed(text, open + 1)
  const kept = /\bSELECT\b/.test(inner) ? "" : withoutSubqueries(inner)
  return `${text.slice(0, open)}(${kept})${withoutSubqueries(text.slice(open + inner.length + 2))}`
}

/** The outermost SQL templates of a file, with the templates in them. */
export const of = (source: string) => {
  const templates: Array<string> = []
  const begins = /\bsql(?:<[^`]*?>)?`/g
  for (let begin = begins.exec(source); begin !== null; begin = begins.exec(source)) {
    const from = begins.lastIndex
    const open = ["`"]
    let at = from
    for (; at < source.length && open.length > 0; at++) {
      if (source[at] === "\\") at++
      else if (source[at] === "`") open.at(-1) === "`" ? open.pop() : open.push("`")
      else if (source[at] === "{" && (open.at(-1) === "{" || source[at - 1] === "$")) open.push("{")
      else if (source[at] === "}" && open.at(-1) === "{") open.pop()
    }
    templates.push(source.slice(from, at - 1).replaceAll(/--.*$/gm, ""))
    begins.lastIndex = at
  }
  return templates
}

/** A text in one line, with … in place of interpolations. */
export const shortened = (text: string) => {
  let short = ""
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "{" && (depth > 0 || text[at - 1] === "$")) depth++
    if (depth === 0) short += text[at]
    if (text[at] === "}" && depth > 0) depth--
  }
  return short
    .replaceAll("$", "…")
    .replaceAll(/…::\w+/g, "…")
    .replaceAll(/\s+/g, " ")
    .trim()
}
